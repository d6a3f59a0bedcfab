// The clocks of the C library.
#pragma once

// Lets the C library read the clocks. Called when a run starts.
void clock_start();
