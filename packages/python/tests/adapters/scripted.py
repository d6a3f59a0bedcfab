"""A chat model of LangChain that answers with given messages."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage


class ScriptedModel(GenericFakeChatModel):
    """Keeps the tools that each call can use in ``bound``."""

    bound: list[Any] = []

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:
        self.bound.append([*tools])
        return self


def tool_call(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


def scripted(*messages: AIMessage) -> ScriptedModel:
    return ScriptedModel(messages=iter([*messages, AIMessage("done")]), bound=[])


def script(source: str) -> ScriptedModel:
    """Returns a model that executes a script, and then answers."""
    return scripted(tool_call("execute_script", script=source))


def tool_texts(state: dict[str, Any]) -> list[str]:
    messages: list[BaseMessage] = state["messages"]
    return [str(message.text) for message in messages if message.type == "tool"]
