#pragma once
// What Swift's Glibc leaves out: how the heap is set.
#include <malloc.h>
