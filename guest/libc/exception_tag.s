# The tag of C++ exceptions. The compiler refers to it, but no library for WASI defines it.
	.globl	__cpp_exception
	.tagtype	__cpp_exception i32
__cpp_exception:
