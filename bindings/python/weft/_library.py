"""Finds libweft, tells ctypes about it, and turns what it answers into exceptions."""
import ctypes
import operator
import os

from . import _c


class Error(Exception):
    """Weft refused an input or gave up; `file` and `line` say where, when a file is concerned."""

    def __init__(self, message, status=None, file=None, line=0):
        super().__init__(message)
        self.status, self.file, self.line = status, file, line

    def __str__(self):
        where = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        return where + super().__str__()


class InputError(Error, ValueError):
    """The input is wrong; the message says what to do."""


class NotFoundError(Error, LookupError):
    """There is no such name, number or file; the message names the nearest."""


class UnsupportedError(Error):
    """This combination or build does not support it."""


class FileError(Error, OSError):
    """Reading or writing failed, or the disk is full."""

    __str__ = Error.__str__


class ExistsError(Error, FileExistsError):
    """The target exists already."""

    __str__ = Error.__str__


class SolveError(Error, ArithmeticError):
    """A matrix is not positive definite, an iteration did not converge, or a value is not finite."""


class Cancelled(Error):
    """Stopped on request."""


class NoMemoryError(Error, MemoryError):
    """There is no memory left."""


_KINDS = {_c.WEFT_BAD_INPUT: InputError, _c.WEFT_NOT_FOUND: NotFoundError, _c.WEFT_UNSUPPORTED: UnsupportedError,
          _c.WEFT_NO_MEMORY: NoMemoryError, _c.WEFT_IO: FileError, _c.WEFT_DISK_FULL: FileError,
          _c.WEFT_NOT_DEFINITE: SolveError, _c.WEFT_NOT_CONVERGED: SolveError, _c.WEFT_NOT_FINITE: SolveError,
          _c.WEFT_EXISTS: ExistsError, _c.WEFT_CANCELLED: Cancelled}


def _candidates():
    """In this order: $WEFT_LIBRARY, beside the package, the build folder of a checkout, what the system knows."""
    if os.environ.get("WEFT_LIBRARY"):
        return [os.environ["WEFT_LIBRARY"]]
    here = os.path.dirname(os.path.abspath(__file__))
    checkout = os.path.join(here, "..", "..", "..", "build", "libweft.so.0")
    return [os.path.join(here, "libweft.so.0"), os.path.normpath(checkout), "libweft.so.0"]


def _open():
    tried = []
    for path in _candidates():
        if os.path.isabs(path) and not os.path.exists(path):
            tried.append(path)
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as problem:
            tried.append(f"{path} ({problem})")
    raise ImportError("libweft was not found: build it (script/build), install it, or name it in WEFT_LIBRARY; tried "
                      + ", ".join(tried))


def _declare(library):
    for name, (result, arguments) in _c.FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{library._name} has no {name}: it is of another version than this package")
        function.restype, function.argtypes = result, arguments
    return library


def _guarded(function, name):
    def run(*arguments):
        try:
            return function(*arguments)
        except ctypes.ArgumentError as problem:
            raise InputError(f"{name}: {problem}") from None
    return run


class _Library:
    """The functions of libweft. What ctypes cannot convert is a wrong input, as what the library refuses is."""

    def __init__(self, library):
        for name in _c.FUNCTIONS:
            setattr(self, name, _guarded(getattr(library, name), name))


lib = _Library(_declare(_open()))


def check(status, error=None):
    """Nothing where all went well, else the exception that fits, with the library's sentence."""
    if status == _c.WEFT_OK:
        return
    message = error.message.decode("utf-8", "replace") if error is not None else ""
    message = message or lib.weft_status_text(status).decode()
    file = error.file.decode("utf-8", "surrogateescape") if error is not None and error.file else None
    raise _KINDS.get(status, Error)(message, status, file, error.line if error is not None else 0)


def call(function, *arguments):
    """A call whose last argument is a weft_error*: raises where it fails."""
    error = _c.weft_error()
    check(function(*arguments, ctypes.byref(error)), error)


def whole(value, what, least=-2**31, most=2**31 - 1):
    """A whole number that C can hold: ctypes would cut off what is too large."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{what}: a whole number is needed, not {value!r:.80}") from None
    if not least <= number <= most:
        raise InputError(f"{what}: {least} to {most} are possible, not {number}")
    return number


def check_threads(threads):
    whole(threads, "threads (0: one a core)", 0, 1024)


def text(value, what="a name"):
    """A file name or any other text, as C has it; None stays."""
    if value is None:
        return None
    try:
        found = os.fsencode(value)
    except (TypeError, UnicodeError):
        raise InputError(f"{what}: a text is needed, not {value!r:.80}") from None
    if b"\0" in found:
        raise InputError(f"{what}: a text without zero bytes is needed, not {value!r:.80}")
    return found


def needed(value, what):
    """The same of what must be there: C takes NULL for a mistake of the program and ends it."""
    if value is None:
        raise InputError(f"{what}: a text is needed, not None")
    return text(value, what)


def assign(struct, known, name, value):
    """Sets a field of a C struct: a number or a text. None where its default is none alone."""
    kind = known[name]
    if kind is ctypes.c_char_p:
        setattr(struct, name, text(value, name) if getattr(struct, name) is None else needed(value, name))
        return
    try:
        setattr(struct, name, whole(value, name) if kind is ctypes.c_int else value)
    except (TypeError, OverflowError):
        raise InputError(f"{name}: a number is needed, not {value!r:.80}") from None


def names(kind):
    """(name, summary) of all "methods", "solvers", "models", "materials", "scenes", "formats", "bodies" or "preconditioners"."""
    number = getattr(_c, "WEFT_LIST_" + str(kind).upper(), None)
    if number is None:
        raise NotFoundError(f"there is no list of {kind!r}: methods, solvers, models, materials, scenes, formats, bodies, preconditioners")
    found, name, summary = [], ctypes.c_char_p(), ctypes.c_char_p()
    while lib.weft_list(number, len(found), ctypes.byref(name), ctypes.byref(summary)) == _c.WEFT_OK:
        found.append((name.value.decode(), summary.value.decode()))
    return found


def version():
    """The library's version."""
    return lib.weft_version().decode()
