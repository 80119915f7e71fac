"""cases.py - real crashes of released programs, for run.py: how each is built, what crashes it, and where its authors mended it.

A program is built from Debian's source package of bookworm without Debian's patches, which often are the mends: so the fault is known. `fault` is
the file and the first and last of the lines, as released, that the mend is about.
"""
import struct
import zlib

# Source package: commands that build it with $CC and $CFLAGS, and the program in it.
PACKAGES = {
    "patch": ("./configure -q && make -j2 -C lib && make -j2 -C src", "src/patch"),
    "libxml2": ("./configure -q --disable-shared --without-python --without-zlib --without-lzma --without-icu && make -j2 AUTOMAKE=: AUTOCONF=: AUTOHEADER=: ACLOCAL=: xmllint", "xmllint"),
    "tiff": ("cmake -S . -B made -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF -Djpeg=OFF -Dzlib=OFF -Dlzma=OFF -Dzstd=OFF -Dwebp=OFF -Djbig=OFF "
             "-Dlerc=OFF -Dlibdeflate=OFF && make -j2 -C made tiffcrop", "made/tools/tiffcrop"),
    "jq": ("autoreconf -fi && ./configure -q --disable-shared --enable-all-static --disable-maintainer-mode --without-oniguruma && "
           "make -j2 src/builtin.inc src/version.h && make -j2 jq", "jq"),
    "giflib": ('$CC $CFLAGS -std=gnu99 -o gif2rgb gif2rgb.c getarg.c qprintf.c dgif_lib.c egif_lib.c gifalloc.c gif_err.c gif_font.c gif_hash.c '
               'openbsd-reallocarray.c quantize.c -lm', "gif2rgb"),
    "unzip": ('make -j2 -f unix/Makefile unzip CC="$CC" LD="$CC" LF2= SL2= CF="$CFLAGS -I. -DLARGE_FILE_SUPPORT -DUNICODE_SUPPORT -DUNICODE_WCHAR '
              '-DUTF8_MAYBE_NATIVE -DNO_LCHMOD -DNOMEMCPY -DNO_WORKING_ISPRINT"', "unzip"),
}


class Case:
    """A file named `stdin` is the standard input. levels: of optimization, at which it crashes."""

    def __init__(self, name, package, fault, files, arguments, environment=None, levels=("O0", "O2")):
        self.name, self.package, self.fault, self.files, self.arguments, self.levels = name, package, fault, files, arguments, levels
        self.environment = dict(environment or {})
        if "stdin" in files:
            self.environment["CORE_INPUT"] = "stdin"


def tiff():
    """A picture of 8 by 8 grey pixels."""
    tags = [(256, 8), (257, 8), (258, 8), (259, 1), (262, 1), (273, 0), (277, 1), (278, 8), (279, 64)]
    at = 8 + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, at if tag == 273 else value) for tag, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 0) + bytes(64)


def zipped(name, unicode_name):
    """An archive of one empty file, whose name stands a second time in a field for UTF-8."""
    field = struct.pack("<HHBI", 0x7075, 5 + len(unicode_name), 1, zlib.crc32(name)) + unicode_name
    common = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, 0, 0, 0, len(name), len(field))
    local = b"PK\3\4" + common + name + field
    central = b"PK\1\2" + struct.pack("<H", 0x314) + common + struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, 0) + name + field
    return local + central + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 1, 1, len(central), len(local), 0)


def encrypted(name):
    """An archive of one encrypted file."""
    common = struct.pack("<HHHHHIIIHH", 20, 1, 0, 0, 33, 0, 12, 0, len(name), 0)
    local = b"PK\3\4" + common + name + bytes(12)
    central = b"PK\1\2" + struct.pack("<H", 0x314) + common + struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, 0) + name
    return local + central + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 1, 1, len(central), len(local), 0)


SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="http://www.test.com" targetNamespace="http://www.test.com">
  <xs:complexType name="BaseType"><xs:simpleContent><xs:extension base="xs:int"/></xs:simpleContent></xs:complexType>
  <xs:complexType name="ChildType">
    <xs:complexContent>
      <xs:extension base="BaseType">
        <xs:sequence><xs:element name="bad" type="xs:int" minOccurs="0" maxOccurs="1"/></xs:sequence>
      </xs:extension>
    </xs:complexContent>
  </xs:complexType>
  <xs:element name="Child" type="ChildType"/>
</xs:schema>
"""
CIRCLE = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="e" substitutionGroup="e"/>
  <xs:element name="t" substitutionGroup="e" type="xs:decimal"/>
</xs:schema>
"""

CASES = [
    # CVE-2018-6951: names are missing where two are needed.
    Case("patch-rename", "patch", ("pch.c", 974, 979), {
        "y": "hello\n",
        "in.diff": "diff --git \nrename from x\nrename to y\n--- /dev/null\n+++ b/y\n@@ -1 +1 @@\n-hello\n+world\n",
    }, ["-p1", "-f", "-i", "in.diff"]),
    # A state is not set again for the second file.
    Case("patch-newline", "patch", ("patch.c", 358, 358), {
        "one": "a\nb",
        "two": "c\n",
        "in.diff": "--- one\n+++ one\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n"
                   "--- two\n+++ two\n@@ -1 +1 @@\n-c\n+d\n",
    }, ["-p0", "-f", "-o", "out", "-i", "in.diff"]),
    # A script of ed for a file that is not there.
    Case("patch-ed", "patch", ("pch.c", 2394, 2398), {"in.diff": "0a\nhello\n.\n"}, ["-f", "-e", "-i", "in.diff", "missing"]),
    # CVE-2023-28484: a base type without elements.
    Case("xmllint-type", "libxml2", ("xmlschemas.c", 18611, 18611), {"in.xsd": SCHEMA, "in.xml": '<Child xmlns="http://www.test.com">5</Child>\n'},
         ["--schema", "in.xsd", "in.xml"]),
    # An element that may stand in for itself has no type (4c6922f7).
    Case("xmllint-circle", "libxml2", ("xmlschemas.c", 13348, 13349), {"in.xsd": CIRCLE, "in.xml": "<e/>\n"}, ["--schema", "in.xsd", "in.xml"]),
    # CVE-2023-3316: the output cannot be opened.
    Case("tiffcrop-close", "tiff", ("tiffcrop.c", 2923, 2923), {"in.tif": tiff()}, ["-Z", "1:4,2:4", "in.tif", "missing/out.tif"]),
    # CVE-2026-39956: a function for strings is given a number.
    Case("jq-strindices", "jq", ("builtin.c", 1125, 1127), {"in.jq": '123 | _strindices("abc")'}, ["-n", "-f", "in.jq"]),
    # CVE-2026-54679: a code point that is none.
    Case("jq-implode", "jq", ("jv.c", 727, 730), {"in.jq": "[65, -1] | implode"}, ["-n", "-f", "in.jq"]),
    # Debian bug 715963: an option's numbers are missing.
    Case("gif2rgb-option", "giflib", ("getarg.c", 309, 312), {}, ["-s"]),
    # CVE-2022-0530: a name that is no UTF-8.
    Case("unzip-utf8", "unzip", ("process.c", 2543, 2545), {"in.zip": zipped(b"name", b"na\xffme")}, ["-o", "in.zip"], {"LC_ALL": "C"}),
    # CVE-2018-1000035: the prompt for a password has no room for a long name with control characters.
    Case("unzip-password", "unzip", ("fileio.c", 1591, 1593), {"a" * 60 + ".zip": encrypted(b"\1" * 4090)}, ["-t", "a" * 60 + ".zip"]),
    # CVE-2025-6170: a command of the shell is longer than its buffer.
    Case("xmllint-shell", "libxml2", ("debugXML.c", 2865, 2869), {"in.xml": "<a/>\n", "stdin": "c" * 498 + "\n"}, ["--shell", "in.xml"],
         levels=("O0",)),
]
