# The tag of C++ exceptions. Compilers refer to it; on WASI nobody defines it.
	.globl	__cpp_exception
	.tagtype	__cpp_exception i32
__cpp_exception:
