// The heap of the C library: `malloc` and its family, for the VM, the compiler and the bindings.
#pragma once

// Returns true if the host has denied memory at least once.
bool heap_growth_was_denied();
