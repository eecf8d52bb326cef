"""NAME.weights.bin: 64 bytes that say what it is, then the blob that the code reads.

The bytes are those of `GAWEEWTS`, then numbers, the lowest byte first: the version of this format
(4 bytes), the CRC-32 of the blob (4, as zlib and PNG compute it), the size of the blob (8), and
which code the weights are for (8, `NAME_weights_id`); zeros follow. LOADER is the C that reads it.
"""

import struct
import zlib

MAGIC = b"GAWEEWTS"
VERSION = 1
HEAD = struct.Struct("<8sIIQQ32x")
"""What stands before the blob; as long as a cache line, so that a mapped blob is aligned."""


def weights_file(blob: bytes, code: int) -> bytes:
    """Return the content of a weights file; `code` is what `NAME_weights_id` returns."""
    return HEAD.pack(MAGIC, VERSION, zlib.crc32(blob), len(blob), code) + blob


MEMORY = """\
/* Return memory at an address that is a multiple of ${alignment}, NULL where there is none. */
static inline void *${name}_allocate(size_t size) {
    char *memory = NULL, *start = NULL;
    if (size < SIZE_MAX - 2 * ${alignment})
        memory = (char *)malloc(size + 2 * ${alignment});
    if (memory) {
        start = memory + 2 * ${alignment} - (uintptr_t)memory % ${alignment};
        memcpy(start - sizeof memory, &memory, sizeof memory);
    }
    return start;
}

/* Free what ${name}_allocate or ${name}_load gave; NULL is nothing to free. */
static inline void ${name}_free(void *start) {
    char *memory = NULL;
    if (start)
        memcpy(&memory, (char *)start - sizeof memory, sizeof memory);
    free(memory);
}
"""
"""C that allocates what needs an alignment; a string.Template."""

LOADER = """
/* What ${name}_load returns. */
enum {
    ${NAME}_LOADED = 0,
    ${NAME}_CANNOT_READ = 1,   /* there is no such file, or it cannot be read */
    ${NAME}_NO_MEMORY = 2,
    ${NAME}_NOT_WEIGHTS = 3,   /* the file is something else */
    ${NAME}_WRONG_VERSION = 4, /* weights in another version of the format */
    ${NAME}_OTHER_CODE = 5,    /* weights of another network, or of another export of this one */
    ${NAME}_CUT_OFF = 6,
    ${NAME}_TOO_LONG = 7,
    ${NAME}_WRONG_CHECKSUM = 8 /* the weights are damaged */
};

static inline const char *${name}_load_message(int status) {
    static const char *const messages[] = {
        "loaded", "cannot be read", "does not fit into memory", "is no file of weights",
        "has another version of the format", "has weights for other code", "is cut off",
        "is too long", "is damaged: its checksum is wrong"};
    return status >= 0 && status <= ${NAME}_WRONG_CHECKSUM ? messages[status] : "unknown status";
}

static inline uint64_t ${name}_number(const unsigned char *bytes, int count) {
    uint64_t number = 0;
    while (count-- > 0)
        number = number << 8 | bytes[count];
    return number;
}

/* The CRC-32 of zlib and PNG, eight bytes at a time. */
static inline uint32_t ${name}_crc32(const unsigned char *data, size_t size) {
    uint32_t table[8][256], crc = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        table[0][i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[0][i] = table[0][i] >> 1 ^ (table[0][i] & 1 ? 0xedb88320u : 0);
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
    for (; size >= 8; size -= 8, data += 8) {
        crc ^= (uint32_t)${name}_number(data, 4);
        crc = table[7][crc & 255] ^ table[6][crc >> 8 & 255] ^ table[5][crc >> 16 & 255] ^
              table[4][crc >> 24] ^ table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^
              table[0][data[7]];
    }
    for (; size > 0; size--, data++)
        crc = crc >> 8 ^ table[0][(crc ^ *data) & 255];
    return ~crc;
}

static inline int ${name}_check_head(FILE *file, uint32_t *checksum) {
    unsigned char head[${head}];
    size_t count = fread(head, 1, sizeof head, file);
    if (ferror(file))
        return ${NAME}_CANNOT_READ;
    if (memcmp(head, "${magic}", count < 8 ? count : 8) != 0)
        return ${NAME}_NOT_WEIGHTS;
    if (count < sizeof head)
        return ${NAME}_CUT_OFF;
    if (${name}_number(head + 8, 4) != ${version})
        return ${NAME}_WRONG_VERSION;
    if (${name}_number(head + 16, 8) != ${name}_weights_size() ||
        ${name}_number(head + 24, 8) != ${name}_weights_id())
        return ${NAME}_OTHER_CODE;
    *checksum = (uint32_t)${name}_number(head + 12, 4);
    return ${NAME}_LOADED;
}

static inline int ${name}_read_weights(FILE *file, unsigned char *data, uint32_t checksum) {
    size_t size = ${name}_weights_size();
    size_t count = fread(data, 1, size, file);
    int after = fgetc(file);
    if (ferror(file))
        return ${NAME}_CANNOT_READ;
    if (count < size)
        return ${NAME}_CUT_OFF;
    if (after != EOF)
        return ${NAME}_TOO_LONG;
    return ${name}_crc32(data, size) == checksum ? ${NAME}_LOADED : ${NAME}_WRONG_CHECKSUM;
}

/* Read ${name}.weights.bin into memory for ${name}_run, to be freed with ${name}_free.
   Returns 0, or what is wrong with the file; *weights is NULL then. */
static inline int ${name}_load(const char *path, void **weights) {
    uint32_t checksum = 0;
    FILE *file = fopen(path, "rb");
    int status = file ? ${name}_check_head(file, &checksum) : ${NAME}_CANNOT_READ;
    *weights = NULL;
    if (status == ${NAME}_LOADED) {
        *weights = ${name}_allocate(${name}_weights_size());
        status = *weights ? ${name}_read_weights(file, (unsigned char *)*weights, checksum)
                          : ${NAME}_NO_MEMORY;
    }
    if (file)
        fclose(file);
    if (status != ${NAME}_LOADED) {
        ${name}_free(*weights);
        *weights = NULL;
    }
    return status;
}
"""
"""C that loads a weights file into memory; a string.Template."""
