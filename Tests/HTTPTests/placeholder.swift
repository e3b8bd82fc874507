<<<<<<< HEAD
import Testing
=======
// placeholder
>>>>>>> storage
