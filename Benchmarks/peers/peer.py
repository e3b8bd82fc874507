"""The server that a team writes in an afternoon: FastAPI, Apple's own library, one INSERT for each purchase.

It is a measuring stick, not a product. It does what Assay does for `POST /purchases` and leaves out what is hard:
receipts of older systems, repeated submissions with other facts, revocations, a key for each caller.

Settings, from the environment:
    PEER_ROOT       file with the DER of the root that tokens must lead to
    PEER_BUNDLE_ID  the app
    PEER_APPLE_ID   its number
    PEER_DATABASE   a PostgreSQL URL, or the path of an SQLite file
"""

import os
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
import asyncpg
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

TABLE = """
CREATE TABLE IF NOT EXISTS purchases (
    transaction_id BIGINT PRIMARY KEY,
    original_transaction_id BIGINT NOT NULL,
    customer TEXT NOT NULL,
    product_id TEXT NOT NULL,
    environment TEXT NOT NULL,
    purchased_at BIGINT NOT NULL,
    expires_at BIGINT,
    signed_at BIGINT NOT NULL,
    proof TEXT NOT NULL
)
"""
INDEX = "CREATE INDEX IF NOT EXISTS purchases_original ON purchases (original_transaction_id)"
INSERT = "INSERT INTO purchases VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING"

# Off, because they ask a server of Apple's about each chain. Apple's library keeps chains that it has checked for a
# quarter of an hour, but only with online checks on.
ENABLE_ONLINE_CHECKS = False

verifier = SignedDataVerifier(
    [Path(os.environ["PEER_ROOT"]).read_bytes()],
    ENABLE_ONLINE_CHECKS,
    Environment.PRODUCTION,
    os.environ["PEER_BUNDLE_ID"],
    int(os.environ["PEER_APPLE_ID"]),
)


class PostgreSQL:
    """A pool of connections; every statement is a transaction of its own, durable when it returns."""

    async def open(self, url: str) -> None:
        self.pool = await asyncpg.create_pool(url, min_size=4, max_size=16)
        async with self.pool.acquire() as connection, connection.transaction():
            # Two workers start at once, and CREATE IF NOT EXISTS does not wait for another one.
            await connection.execute("SELECT pg_advisory_xact_lock(1)")
            await connection.execute(TABLE)
            await connection.execute(INDEX)

    async def insert(self, *row: object) -> None:
        await self.pool.execute(INSERT, *row)

    async def close(self) -> None:
        await self.pool.close()


class SQLite:
    """One connection, on a thread of its own; a commit for each row."""

    async def open(self, path: str) -> None:
        self.connection = await aiosqlite.connect(path, isolation_level=None)
        for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA busy_timeout=10000"):
            await self.connection.execute(statement)
        await self.connection.execute(TABLE)
        await self.connection.execute(INDEX)

    async def insert(self, *row: object) -> None:
        await self.connection.execute(INSERT.replace("$", "?"), row)

    async def close(self) -> None:
        await self.connection.close()


database = PostgreSQL() if os.environ["PEER_DATABASE"].startswith("postgres") else SQLite()


@asynccontextmanager
async def lifespan(_: FastAPI):
    await database.open(os.environ["PEER_DATABASE"])
    yield
    await database.close()


app = FastAPI(lifespan=lifespan)


class Purchase(BaseModel):
    proof: str
    customer: str


@app.get("/livez")
async def live() -> dict[str, str]:
    return {"status": "ok"}


@app.post("/purchases")
async def submit(purchase: Purchase) -> dict[str, str]:
    try:
        fact = verifier.verify_and_decode_signed_transaction(purchase.proof)
    except VerificationException as refusal:
        raise HTTPException(status_code=422, detail=refusal.status.name) from refusal
    await database.insert(
        int(fact.transactionId),
        int(fact.originalTransactionId),
        purchase.customer,
        fact.productId,
        fact.rawEnvironment,
        fact.purchaseDate,
        fact.expiresDate,
        fact.signedDate,
        purchase.proof,
    )
    return {"status": "recorded", "transaction_id": fact.transactionId}
