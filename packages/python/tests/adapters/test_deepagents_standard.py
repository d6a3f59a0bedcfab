"""The standard tests of deepagents for sandboxes, which the package langchain-tests has, with ``ToolscriptBackend``.

The tests that do not apply are listed with the reason. They are executed, and must fail, so that the lists stay complete. The async tests
need ``-o asyncio_mode=auto``.

The distribution of deepagents itself contains no tests. Its repository has some, in ``libs/deepagents/tests/unit_tests/backends``. Those of
version 0.7.8 were run once with deepagents 0.7.32 and ``ToolscriptBackend`` in place of the backend under test, without protected names. They
are not copied here; ``test_deepagents`` has tests for the defects that they found. The modules are ``test_composite_backend``,
``test_filesystem_backend``, ``test_state_backend`` and ``test_store_backend``, each with its ``_async`` variant, ``test_file_format``,
``test_glob_semantics`` and ``test_local_shell_backend``. Of the 446 tests that use a backend, 282 pass. The others do not apply:

- 86 test private methods, patched functions or attributes of the class that was replaced, such as its calls of ripgrep.
- 28 examine the store or the state of LangGraph.
- 14 need a POSIX shell, or expect that the backend has no ``execute``.
- 14 expect that directories in a listing end with a slash. Those of ``BaseSandbox`` do not.
- 5 use relative paths, which the protocol does not allow.
- 4 expect details of ``FilesystemBackend`` that ``BaseSandbox`` does not have: the last newline in the contents and a hint about it (3), and
  that an edit drops ``\\r`` from the new text (1).
- 4 expect other wordings of errors (3), or an empty listing for a directory that does not exist (1).
- 2 need operations on symlinks.
- 2 expect the reminder about empty files in the contents. The middleware adds it.
- 2 expect that the extension decides whether a file is text. Here, its contents do.
- 1 asks for more than 100 lines of context.
- 2 are expected to fail in deepagents, too.

The other modules test classes and helpers of deepagents only.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from deepagents.backends.protocol import SandboxBackendProtocol
from langchain_tests.integration_tests import SandboxIntegrationTests

from toolscript import Sandbox
from toolscript.deepagents import ToolscriptBackend

NEEDS_A_SHELL = {
    "test_write_new_file": "cat",
    "test_upload_single_file": "cat",
    "test_write_creates_parent_dirs": "cat",
    "test_write_special_characters": "cat",
    "test_write_path_with_spaces": "cat",
    "test_write_unicode_content": "cat",
    "test_write_consecutive_slashes_in_path": "cat",
    "test_write_empty_file": "[ -f … ] && echo",
    "test_write_content_with_only_newlines": "wc",
    "test_upload_large_file_reports_expected_size": "wc",
    "test_aupload_adownload_large_file_roundtrip": "wc",
    "test_awrite_aread_large_text_payload": "wc",
    "test_ls_lists_nested_directories": "mkdir, touch",
    "test_ls_large_directory": "a loop",
    "test_execute_large_stdout_payload": "python",
    "test_aexecute_large_stdout_payload": "python",
}
"""The tests that check their result with a program that ``execute`` does not have."""

CONTRADICTS_THE_PROTOCOL = {
    "test_write_existing_file_fails": "write overwrites",
    "test_glob": "paths are absolute",
    "test_glob_basic_pattern": "paths are absolute",
    "test_glob_hidden_files_explicitly": "paths are absolute",
    "test_glob_with_character_class": "paths are absolute",
    "test_glob_with_question_mark": "paths are absolute",
    "test_glob_with_directories": "directories are never matched",
}
"""The tests of langchain-tests 1.1.9 that expect the opposite of the documentation of ``BackendProtocol`` in deepagents 0.7."""

PREPARED_WITH_A_SHELL = {"test_download_error_is_directory", "test_download_error_permission_denied", "test_grep_empty_directory"}
"""The tests that pass, but prepare their file or directory with a command that fails here. ``test_deepagents`` has tests for these cases."""


class TestStandard(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxBackendProtocol]:
        yield ToolscriptBackend(Sandbox(tmp_path_factory.mktemp("standard")))

    @pytest.fixture(autouse=True)
    def expected_failure(self, request: pytest.FixtureRequest) -> None:
        name = request.node.name
        reason = f"needs a POSIX shell: {NEEDS_A_SHELL[name]}" if name in NEEDS_A_SHELL else CONTRADICTS_THE_PROTOCOL.get(name)
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def test_the_lists_name_existing_tests() -> None:
    listed: set[str] = {*NEEDS_A_SHELL, *CONTRADICTS_THE_PROTOCOL, *PREPARED_WITH_A_SHELL}
    standard = set(vars(SandboxIntegrationTests))
    assert listed <= standard
    assert sum(name.startswith("test_") for name in standard) - len({*NEEDS_A_SHELL, *CONTRADICTS_THE_PROTOCOL}) == 62
