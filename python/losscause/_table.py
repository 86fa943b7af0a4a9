"""The tables of scenario files, as `losscause.scenario` has them: dictionaries whose keys are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from losscause._losscause import Error

if TYPE_CHECKING:
    from inspect import Signature


class _Keys:
    """The signature of a table, for editors and notebooks: its keys as arguments."""

    def __get__(self, instance: object, owner: type[Table]) -> Signature:
        from inspect import signature

        declared = signature(owner._declared)
        return declared.replace(parameters=list(declared.parameters.values())[1:])


class Table(dict[str, Any]):
    """A table of a scenario file: a dictionary whose keys are checked when it is made."""

    __signature__ = _Keys()

    _keys: ClassVar[tuple[str, ...]] = ()
    _required: ClassVar[tuple[str, ...]] = ()
    _fixed: ClassVar[dict[str, str]] = {}
    _declared: ClassVar[Any] = lambda self: None

    def __init_subclass__(cls) -> None:
        """The keys of a class are the arguments that its `__init__` declares; that of all checks them."""
        if cls.__module__ == "losscause.scenario":
            cls._declared = cls.__dict__["__init__"]
            code, defaults = cls._declared.__code__, cls._declared.__kwdefaults__ or {}
            cls._keys = code.co_varnames[1 : 1 + code.co_kwonlyargcount]
            cls._required = tuple(key for key in cls._keys if key not in defaults)
            type.__delattr__(cls, "__init__")

    def __init__(self, **given: Any) -> None:
        name = type(self).__name__
        for key in given:
            if key not in self._keys:
                from difflib import get_close_matches

                near = get_close_matches(key, self._keys, 1)
                hint = f' (did you mean "{near[0]}"?)' if near else ""
                raise _refused(key, f'{name}: the key "{key}" is unknown{hint}, expected one of {", ".join(self._keys)}')
        for key in self._required:
            if given.get(key) is None:
                raise _refused(key, f"{name}: {key}: is missing")
        super().__init__(self._fixed)
        self.update((key, value) for key, value in given.items() if value is not None)

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.items() if key not in self._fixed)
        return f"{type(self).__name__}({shown})"


def _refused(key: str, text: str) -> Error:
    error = Error(text)
    error.key = key
    return error
