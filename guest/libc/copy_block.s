# The wasm operators that copy and fill blocks of memory, as functions.
	.globl	copy_block
	.type	copy_block,@function
copy_block:
	.functype	copy_block (i32, i32, i32) -> ()
	local.get	0
	local.get	1
	local.get	2
	memory.copy	0, 0
	end_function

	.globl	fill_block
	.type	fill_block,@function
fill_block:
	.functype	fill_block (i32, i32, i32) -> ()
	local.get	0
	local.get	1
	local.get	2
	memory.fill	0
	end_function
