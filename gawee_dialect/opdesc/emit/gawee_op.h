/* What files of `gawee-translate opdesc --emit c` are compiled against: the format's structs and
 * enums, the functions that C texts of descriptions call, and the checks of pre_run.
 *
 * C11, one header, nothing to link but libm. What pre_run allocates lives until post_run.
 * An operator's life: pre_run -> static_run (where it has one) -> run, any number of times -> post_run.
 */
#ifndef GAWEE_OP_H
#define GAWEE_OP_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LN_MAXLINE 4096
#define LN_MAXDIMS 32
#define LN_MAXINT 2147483647

enum { LN_MEM_NONE, LN_MEM_CPU, LN_MEM_CUDA, LN_MEM_DPU };
enum {
  LN_PARAM_NULL, LN_PARAM_STRING, LN_PARAM_NUMBER, LN_PARAM_BOOL,
  LN_PARAM_ARRAY_STRING, LN_PARAM_ARRAY_NUMBER, LN_PARAM_ARRAY_BOOL
};
enum { TL_DOUBLE, TL_FLOAT, TL_INT32, TL_INT16, TL_INT8, TL_UINT32, TL_UINT16, TL_UINT8, TL_BOOL };
enum { TL_MUL, TL_DIV, TL_SUM, TL_SUB, TL_MAX, TL_MIN, TL_POW };
enum { TL_NEAREST, TL_LINEAR };
enum { TL_SORT_DIR_ASCENDING, TL_SORT_DIR_DESCENDING };

#define LN_MTYPES "LN_MEM_NONE", "LN_MEM_CPU", "LN_MEM_CUDA", "LN_MEM_DPU"
#define LN_PTYPES \
  "LN_PARAM_NULL", "LN_PARAM_STRING", "LN_PARAM_NUMBER", "LN_PARAM_BOOL", \
  "LN_PARAM_ARRAY_STRING", "LN_PARAM_ARRAY_NUMBER", "LN_PARAM_ARRAY_BOOL"
#define TL_DTYPES \
  "TL_DOUBLE", "TL_FLOAT", "TL_INT32", "TL_INT16", "TL_INT8", "TL_UINT32", "TL_UINT16", "TL_UINT8", \
  "TL_BOOL"

/* A tensor: its shape, its dtype, and its data, row by row. */
typedef struct ln_tensor {
  int ndim;
  int len;
  int *dims;
  int dtype;
  void *data;
} ln_tensor;

/* An entry of the tensor table. `owner` is the tensor whose memory it shares, or NULL. */
typedef struct ln_tensor_entry {
  char *name;
  ln_tensor *tensor;
  int isstatic;
  int mtype;
  char *owner;
  size_t offset;
  char *creater;
} ln_tensor_entry;

/* An argument of an invocation: its name, and that of the tensor which is given for it. */
typedef struct ln_tensor_list_entry {
  char *arg_name;
  char *name;
} ln_tensor_list_entry;

/* What an invocation gives for a parameter, in every type that it may be read as. */
typedef struct ln_param_entry {
  char *arg_name;
  int type;
  int array_len;
  char *value_string;
  double value_double;
  float value_float;
  int value_int;
  int value_bool;
  char **value_array_string;
  double *value_array_double;
  float *value_array_float;
  int *value_array_int;
  int *value_array_bool;
} ln_param_entry;

/* The tensors that exist, with place for `capacity`. */
typedef struct ln_tensor_table {
  ln_tensor_entry **entries;
  int count;
  int capacity;
} ln_tensor_table;

/* One invocation. `error` is the first check that failed, and `error_kind` the format's name of it. */
typedef struct ln_op_arg {
  char *name;
  char *optype;
  ln_tensor_list_entry *tensors_in;
  int tensors_in_count;
  ln_tensor_list_entry *tensors_out;
  int tensors_out_count;
  ln_param_entry *params;
  int params_count;
  ln_tensor_table *table;
  void *priv;
  void *memory;
  const char *where;
  jmp_buf *escape;
  char error_kind[64];
  char error[2048];
} ln_op_arg;

/* An operator: the functions of its life. They return 0, and 1 where `error` says what is wrong. */
typedef struct ln_op {
  const char *optype;
  const char *arch;
  int (*pre_run)(ln_op_arg *op_arg);
  void (*static_run)(ln_op_arg *op_arg);
  void (*run)(ln_op_arg *op_arg);
  void (*post_run)(ln_op_arg *op_arg);
  size_t (*calc_offset)(ln_op_arg *op_arg, ln_tensor_entry *entry);
} ln_op;

/* Errors. */

/* Leave pre_run with an error; `kind` is the format's name of the check. */
_Noreturn static inline void ln_fail(ln_op_arg *op_arg, const char *kind, const char *format, ...) {
  int at = 0;
  va_list arguments;
  snprintf(op_arg->error_kind, sizeof op_arg->error_kind, "%s", kind);
  if (op_arg->where)
    at = snprintf(op_arg->error, sizeof op_arg->error, "%s: ", op_arg->where);
  va_start(arguments, format);
  vsnprintf(op_arg->error + at, sizeof op_arg->error - (size_t)at, format, arguments);
  va_end(arguments);
  if (op_arg->escape == NULL) { /* not in pre_run: no caller to report to */
    fprintf(stderr, "error: '%s' op %s\n", op_arg->optype, op_arg->error);
    abort();
  }
  longjmp(*op_arg->escape, 1);
}

/* The statements up to the next such line are the custom ones of `place`. */
#define ln_custom(place) ((void)(op_arg->where = (place)))

/* A check of the description: `what` is where it stands, then its text, or its message. */
#define ln_opck_holds(what, condition, ...) \
  do { if (!(condition)) ln_fail_holds(op_arg, "satisfy", what, __VA_ARGS__); } while (0)
#define ln_opck_holds_msg(what, condition, ...) \
  do { if (!(condition)) ln_fail_holds(op_arg, "satisfy_msg", what, __VA_ARGS__); } while (0)
#define ln_opck_satisfy(condition) \
  do { if (!(condition)) ln_fail(op_arg, "satisfy", "expected its check to hold"); } while (0)
#define ln_opck_satisfy_msg(condition, ...) \
  do { if (!(condition)) ln_fail(op_arg, "satisfy_msg", __VA_ARGS__); } while (0)
#define ln_msg_error(...) ln_fail(op_arg, "satisfy_msg", __VA_ARGS__)
#define ln_msg_inter_error(...) ln_fail(op_arg, "satisfy_msg", __VA_ARGS__)
#define ln_msg_warn(...) (fprintf(stderr, "warning: "), fprintf(stderr, __VA_ARGS__), (void)fputc('\n', stderr))

_Noreturn static inline void ln_fail_holds(ln_op_arg *op_arg, const char *kind, const char *what,
                                           const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ln_fail(op_arg, kind, "expected %s to hold: %s", what, text);
}

/* A divisor, which is not zero. */
static inline int ln_nonzero(ln_op_arg *op_arg, int number) {
  if (number == 0)
    ln_fail(op_arg, "evaluation", "division by zero");
  return number;
}

/* An index into an array of `count` elements. */
static inline int ln_index(ln_op_arg *op_arg, int index, int count) {
  if (index < 0 || index >= count)
    ln_fail(op_arg, "evaluation", "index %d is out of range of %d elements", index, count);
  return index;
}

/* Memory, which lives until post_run. */

static inline void *ln_memory(ln_op_arg *op_arg, size_t bytes) {
  void **block = calloc(1, sizeof(double) * 2 + bytes);
  if (block == NULL)
    ln_fail(op_arg, "evaluation", "cannot allocate %zu bytes", bytes);
  *block = op_arg->memory;
  op_arg->memory = block;
  return (char *)block + sizeof(double) * 2;
}

static inline void *ln_copy(ln_op_arg *op_arg, const void *data, size_t bytes) {
  return memcpy(ln_memory(op_arg, bytes), data, bytes);
}

static inline char *ln_text(ln_op_arg *op_arg, const char *text) {
  return text == NULL ? NULL : (char *)ln_copy(op_arg, text, strlen(text) + 1);
}

static inline void ln_free_memory(ln_op_arg *op_arg) {
  while (op_arg->memory != NULL) {
    void *block = op_arg->memory;
    op_arg->memory = *(void **)block;
    free(block);
  }
}

#define ln_alloc(bytes) ln_memory(op_arg, bytes)
#define ln_clone(data, bytes) ln_copy(op_arg, data, bytes)
#define ln_free(data) ((void)(data))

/* (type[]){...}, where it outlives the block that it is in. */
#define LN_ARRAY(type, ...) \
  ((type *)ln_copy(op_arg, (type[])__VA_ARGS__, sizeof((type[])__VA_ARGS__)))

/* An element of a tensor's dims, of a parameter. */
#define LN_DIM(tensor, i) tensor->dims[ln_index(op_arg, i, tensor->ndim)]
#define LN_AT(param, i) param[ln_index(op_arg, i, param##_entry->array_len)]

/* The functions that C texts call. */

static inline int ln_streq(const char *a, const char *b) { return strcmp(a, b) == 0; }

static inline char *ln_sprint_shape(char *text, int ndim, const int *dims) {
  int at = snprintf(text, LN_MAXLINE, "[");
  for (int i = 0; i < ndim; i++)
    at += snprintf(text + at, (size_t)(LN_MAXLINE - at), i ? ", %d" : "%d", dims[i]);
  snprintf(text + at, (size_t)(LN_MAXLINE - at), "]");
  return text;
}

static inline int ln_compute_length(int ndim, const int *dims) {
  int length = 1;
  for (int i = 0; i < ndim; i++)
    length *= dims[i];
  return length;
}

static inline int ln_next_multiple_power2(int number, int power) {
  (void)power;
  return (number + 7) / 8 * 8;
}

static inline int ln_output_dim_conv_(ln_op_arg *op_arg, int in, int size, int stride, int pad, int dil) {
  return (in + pad - ((size - 1) * dil + 1)) / ln_nonzero(op_arg, stride) + 1;
}
#define ln_output_dim_conv(in, size, stride, pad, dil) \
  ln_output_dim_conv_(op_arg, in, size, stride, pad, dil)

static inline int ln_output_dim_deconv(int in, int size, int stride, int pad, int out_pad, int dil) {
  return stride * (in - 1) + out_pad + (size - 1) * dil + 1 - pad;
}

/* Write what comes before axis `i` of `n`, and after it: the odd one as `mode` says. */
static inline void ln_set_padding(int *padding, int i, int n, int total, const char *mode) {
  if (total < 0 || ln_streq(mode, "VALID"))
    total = 0;
  int before = ln_streq(mode, "SAME_LOWER") ? total - total / 2 : total / 2;
  padding[i] = before;
  padding[n + i] = total - before;
}

static inline void ln_check_padding(ln_op_arg *op_arg, const char *mode) {
  if (!ln_streq(mode, "VALID") && !ln_streq(mode, "SAME_UPPER") && !ln_streq(mode, "SAME_LOWER") &&
      !ln_streq(mode, "NOTSET"))
    ln_fail(op_arg, "evaluation",
            "unknown padding '%s'; known: VALID, SAME_UPPER, SAME_LOWER, NOTSET", mode);
}

static inline void ln_autopadding_conv_(ln_op_arg *op_arg, int *padding, const int *dims, const int *size,
                                        const int *stride, const int *dil, int n, const char *mode) {
  ln_check_padding(op_arg, mode);
  for (int i = 0; i < n && !ln_streq(mode, "NOTSET"); i++) {
    int out = (dims[i] + stride[i] - 1) / ln_nonzero(op_arg, stride[i]);
    ln_set_padding(padding, i, n, (out - 1) * stride[i] + (size[i] - 1) * dil[i] + 1 - dims[i], mode);
  }
}
#define ln_autopadding_conv(...) ln_autopadding_conv_(op_arg, __VA_ARGS__)

static inline void ln_autopadding_deconv_(ln_op_arg *op_arg, int *padding, const int *dims, const int *out,
                                          const int *size, const int *stride, const int *out_pad,
                                          const int *dil, int n, const char *mode) {
  ln_check_padding(op_arg, mode);
  for (int i = 0; i < n && !ln_streq(mode, "NOTSET"); i++) {
    int whole = stride[i] * (dims[i] - 1) + out_pad[i] + (size[i] - 1) * dil[i] + 1;
    ln_set_padding(padding, i, n, whole - out[i], mode);
  }
}
#define ln_autopadding_deconv(...) ln_autopadding_deconv_(op_arg, __VA_ARGS__)

static inline double tl_dtype_max_double_(ln_op_arg *op_arg, int dtype) {
  const double limits[] = {1.7976931348623157e308, 3.4028234663852886e38, 2147483647, 32767, 127,
                           4294967295, 65535, 255, 1};
  if (dtype < 0 || dtype > TL_BOOL)
    ln_fail(op_arg, "evaluation", "expected a dtype, got %d", dtype);
  return limits[dtype];
}
#define tl_dtype_max_double(dtype) tl_dtype_max_double_(op_arg, dtype)

static inline double tl_dtype_min_double_(ln_op_arg *op_arg, int dtype) {
  double highest = tl_dtype_max_double_(op_arg, dtype);
  return dtype <= TL_FLOAT ? -highest : dtype <= TL_INT8 ? -highest - 1 : 0;
}
#define tl_dtype_min_double(dtype) tl_dtype_min_double_(op_arg, dtype)

/* The place of a text among names, -1 where it is none of them. */
static inline int ln_find(const char *text, const char *const *names, int count) {
  for (int i = 0; i < count; i++)
    if (ln_streq(text, names[i]))
      return i;
  return -1;
}
#define LN_FIND(text, ...) \
  ln_find(text, (const char *const[]){__VA_ARGS__}, \
          (int)(sizeof(const char *[]){__VA_ARGS__} / sizeof(const char *)))
#define tl_dtype_from_str(text) LN_FIND(text, TL_DTYPES)
#define tl_elew_op_from_str(text) \
  LN_FIND(text, "TL_MUL", "TL_DIV", "TL_SUM", "TL_SUB", "TL_MAX", "TL_MIN", "TL_POW")
#define tl_resize_type_from_str(text) LN_FIND(text, "TL_NEAREST", "TL_LINEAR")
#define tl_sort_dir_from_str(text) LN_FIND(text, "TL_SORT_DIR_ASCENDING", "TL_SORT_DIR_DESCENDING")

static inline const char *ln_mtype_name(int mtype) { return (const char *const[]){LN_MTYPES}[mtype]; }
static inline const char *ln_ptype_name(int ptype) { return (const char *const[]){LN_PTYPES}[ptype]; }
static inline const char *ln_dtype_name(int dtype) { return (const char *const[]){TL_DTYPES}[dtype]; }

/* The rows of pre_run that every operator has. */

static inline void ln_opck_count(ln_op_arg *op_arg, const char *kind, const char *what, int expected, int got) {
  if (expected != got)
    ln_fail(op_arg, kind, "expected %d %s, got %d", expected, what, got);
}
#define ln_opck_tensors_in_len_eq(n) \
  ln_opck_count(op_arg, "tensors_in_len_eq", "input tensors", n, op_arg->tensors_in_count)
#define ln_opck_tensors_out_len_eq(n) \
  ln_opck_count(op_arg, "tensors_out_len_eq", "output tensors", n, op_arg->tensors_out_count)
#define ln_opck_params_len_eq(n) ln_opck_count(op_arg, "params_len_eq", "params", n, op_arg->params_count)

static inline ln_tensor_list_entry *ln_find_argument(ln_op_arg *op_arg, const char *kind, const char *what,
                                                     const char *arg_name, ln_tensor_list_entry *given,
                                                     int count) {
  char got[1024] = "none";
  for (int i = 0, at = 0; i < count && at < (int)sizeof got; i++) {
    if (ln_streq(given[i].arg_name, arg_name))
      return &given[i];
    at += snprintf(got + at, sizeof got - (size_t)at, i ? ", '%s'" : "'%s'", given[i].arg_name);
  }
  ln_fail(op_arg, kind, "expected an %s '%s', got %s", what, arg_name, got);
}
#define ln_opck_tensor_in_exist(arg_name) \
  ln_find_argument(op_arg, "tensor_in_exist", "input tensor", arg_name, op_arg->tensors_in, \
                   op_arg->tensors_in_count)
#define ln_opck_tensor_out_exist(arg_name) \
  ln_find_argument(op_arg, "tensor_out_exist", "output tensor", arg_name, op_arg->tensors_out, \
                   op_arg->tensors_out_count)

static inline ln_tensor_entry *ln_table_find(const ln_tensor_table *table, const char *name) {
  for (int i = 0; i < table->count; i++)
    if (ln_streq(table->entries[i]->name, name))
      return table->entries[i];
  return NULL;
}

static inline ln_tensor_entry *ln_opck_tensor_defined_(ln_op_arg *op_arg, ln_tensor_list_entry *argument) {
  ln_tensor_entry *found = ln_table_find(op_arg->table, argument->name);
  if (found == NULL)
    ln_fail(op_arg, "tensor_defined", "expected tensor '%s' of input '%s' to be defined before",
            argument->name, argument->arg_name);
  return found;
}
#define ln_opck_tensor_defined(argument) ln_opck_tensor_defined_(op_arg, argument)

#define ln_opck_tensor_mtype_eq(arg_name, entry, expected) \
  do { if ((entry)->mtype != (expected)) \
    ln_fail(op_arg, "tensor_mtype_eq", "expected input '%s' in %s, got %s", arg_name, \
            ln_mtype_name(expected), ln_mtype_name((entry)->mtype)); } while (0)
#define ln_opck_tensor_dtype_eq(arg_name, entry, expected) \
  do { if ((entry)->tensor->dtype != (expected)) \
    ln_fail(op_arg, "tensor_dtype_eq", "expected input '%s' of dtype %s, got %s", arg_name, \
            ln_dtype_name(expected), ln_dtype_name((entry)->tensor->dtype)); } while (0)

static inline void ln_opck_size(ln_op_arg *op_arg, const char *kind, const char *arg_name,
                                const ln_tensor *tensor, const char *what, int expected, int got) {
  char shape[LN_MAXLINE];
  if (expected != got)
    ln_fail(op_arg, kind, "expected input '%s' of %d %s, got %d (%s)", arg_name, expected, what, got,
            ln_sprint_shape(shape, tensor->ndim, tensor->dims));
}
#define ln_opck_tensor_ndim(arg_name, entry, n) \
  ln_opck_size(op_arg, "tensor_ndim", arg_name, (entry)->tensor, "dimensions", n, (entry)->tensor->ndim)
#define ln_opck_tensor_len(arg_name, entry, n) \
  ln_opck_size(op_arg, "tensor_len", arg_name, (entry)->tensor, "elements", n, (entry)->tensor->len)

#define ln_opck_tensor_issametype(arg_name, entry, other_name, other) \
  do { if ((entry)->tensor->dtype != (other)->tensor->dtype) \
    ln_fail(op_arg, "tensor_issametype", "expected input '%s' of the dtype of '%s' (%s), got %s", arg_name, \
            other_name, ln_dtype_name((other)->tensor->dtype), ln_dtype_name((entry)->tensor->dtype)); \
  } while (0)

static inline void ln_opck_tensor_issameshape_(ln_op_arg *op_arg, const char *arg_name, const ln_tensor *tensor,
                                               const char *other_name, const ln_tensor *other) {
  char one[LN_MAXLINE], two[LN_MAXLINE];
  if (tensor->ndim != other->ndim ||
      memcmp(tensor->dims, other->dims, sizeof(int) * (size_t)tensor->ndim) != 0)
    ln_fail(op_arg, "tensor_issameshape", "expected input '%s' of the shape of '%s' (%s), got %s", arg_name,
            other_name, ln_sprint_shape(two, other->ndim, other->dims),
            ln_sprint_shape(one, tensor->ndim, tensor->dims));
}
#define ln_opck_tensor_issameshape(arg_name, entry, other_name, other) \
  ln_opck_tensor_issameshape_(op_arg, arg_name, (entry)->tensor, other_name, (other)->tensor)

#define ln_opck_tensor_isstatic(arg_name, entry) \
  do { if (!(entry)->isstatic) \
    ln_fail(op_arg, "tensor_isstatic", "expected input '%s' to be static, got tensor '%s'", arg_name, \
            (entry)->name); } while (0)
#define ln_opck_tensor_isnotstatic(arg_name, entry) \
  do { if ((entry)->isstatic) \
    ln_fail(op_arg, "tensor_isnotstatic", "expected input '%s' not to be static, got tensor '%s'", arg_name, \
            (entry)->name); } while (0)

#define ln_opck_tensor_not_defined(arg_name, argument) \
  do { if (ln_table_find(op_arg->table, (argument)->name) != NULL) \
    ln_fail(op_arg, "tensor_not_defined", "expected tensor '%s' of output '%s' not to be defined yet", \
            (argument)->name, arg_name); } while (0)

static inline ln_param_entry *ln_opck_param_exist_(ln_op_arg *op_arg, const char *arg_name) {
  char got[1024] = "none";
  for (int i = 0, at = 0; i < op_arg->params_count && at < (int)sizeof got; i++) {
    if (ln_streq(op_arg->params[i].arg_name, arg_name))
      return &op_arg->params[i];
    at += snprintf(got + at, sizeof got - (size_t)at, i ? ", '%s'" : "'%s'", op_arg->params[i].arg_name);
  }
  ln_fail(op_arg, "param_exist", "expected a param '%s', got %s", arg_name, got);
}
#define ln_opck_param_exist(arg_name) ln_opck_param_exist_(op_arg, arg_name)

#define ln_opck_param_type(entry, expected) \
  do { if ((entry)->type != (expected)) \
    ln_fail(op_arg, "param_type", "expected param '%s' to be %s, got %s", (entry)->arg_name, \
            ln_ptype_name(expected), ln_ptype_name((entry)->type)); } while (0)
#define ln_opck_param_array_len_eq(entry, n) \
  do { int ln_n = (n); if ((entry)->array_len != ln_n) \
    ln_fail(op_arg, "param_array_len_eq", "expected param '%s' of %d elements, got %d", (entry)->arg_name, \
            ln_n, (entry)->array_len); } while (0)

/* A number as messages spell it: an integer, or the shortest decimals that are that number. */
static inline char *ln_sprint_number(char *text, double number, int is_integer) {
  if (is_integer || (fabs(number) < 1e16 && number == floor(number))) {
    snprintf(text, 64, is_integer ? "%.0f" : "%.1f", number);
    return text;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, 64, "%.*g", digits, number);
    if (strtod(text, NULL) == number)
      break;
  }
  return text;
}
#define LN_IS_INTEGER(n) _Generic((n), float: 0, double: 0, default: 1)

#define LN_COMPARE_AS(kind_text, relation_text, holds, name, index, value, is_integer, limit) \
  do { if (!(holds)) { \
    char ln_got[64], ln_limit[64], ln_which[256] = ""; \
    if ((index) >= 0) snprintf(ln_which, sizeof ln_which, "[%d]", index); \
    ln_fail(op_arg, kind_text, "expected param '%s%s' " relation_text " %s, got %s", name, ln_which, \
            ln_sprint_number(ln_limit, (double)(limit), LN_IS_INTEGER(limit)), \
            ln_sprint_number(ln_got, (double)(value), is_integer)); } } while (0)
#define LN_COMPARE(kind, relation, op, entry, value, limit) \
  LN_COMPARE_AS("param_" #kind "_" #relation, #op, (value) op (limit), (entry)->arg_name, -1, value, \
                LN_IS_INTEGER(value), limit)
#define LN_COMPARE_ARRAY(kind, relation, op, entry, limit) \
  do { for (int ln_i = 0; ln_i < (entry)->array_len; ln_i++) \
    LN_COMPARE_AS("param_array_" #kind "_" #relation, #op, (entry)->value_array_##kind[ln_i] op (limit), \
                  (entry)->arg_name, ln_i, (entry)->value_array_##kind[ln_i], \
                  LN_IS_INTEGER((entry)->value_array_##kind[ln_i]), limit); } while (0)
/* What custom statements call: the message is theirs. */
#define LN_COMPARE_ENTRY(entry, kind, relation, op, limit) \
  do { if (!((entry)->value_##kind op (limit))) \
    ln_fail(op_arg, "param_" #kind "_" #relation, "expected '%s' " #op " %g, got %g", (entry)->arg_name, \
            (double)(limit), (double)(entry)->value_##kind); } while (0)

#define ln_opck_param_int_eq(entry, n) LN_COMPARE_ENTRY(entry, int, eq, ==, n)
#define ln_opck_param_int_ne(entry, n) LN_COMPARE_ENTRY(entry, int, ne, !=, n)
#define ln_opck_param_int_gt(entry, n) LN_COMPARE_ENTRY(entry, int, gt, >, n)
#define ln_opck_param_int_ge(entry, n) LN_COMPARE_ENTRY(entry, int, ge, >=, n)
#define ln_opck_param_int_lt(entry, n) LN_COMPARE_ENTRY(entry, int, lt, <, n)
#define ln_opck_param_int_le(entry, n) LN_COMPARE_ENTRY(entry, int, le, <=, n)
#define ln_opck_param_float_eq(entry, n) LN_COMPARE_ENTRY(entry, float, eq, ==, n)
#define ln_opck_param_float_ne(entry, n) LN_COMPARE_ENTRY(entry, float, ne, !=, n)
#define ln_opck_param_float_gt(entry, n) LN_COMPARE_ENTRY(entry, float, gt, >, n)
#define ln_opck_param_float_ge(entry, n) LN_COMPARE_ENTRY(entry, float, ge, >=, n)
#define ln_opck_param_float_lt(entry, n) LN_COMPARE_ENTRY(entry, float, lt, <, n)
#define ln_opck_param_float_le(entry, n) LN_COMPARE_ENTRY(entry, float, le, <=, n)
#define ln_opck_param_double_eq(entry, n) LN_COMPARE_ENTRY(entry, double, eq, ==, n)
#define ln_opck_param_double_ne(entry, n) LN_COMPARE_ENTRY(entry, double, ne, !=, n)
#define ln_opck_param_double_gt(entry, n) LN_COMPARE_ENTRY(entry, double, gt, >, n)
#define ln_opck_param_double_ge(entry, n) LN_COMPARE_ENTRY(entry, double, ge, >=, n)
#define ln_opck_param_double_lt(entry, n) LN_COMPARE_ENTRY(entry, double, lt, <, n)
#define ln_opck_param_double_le(entry, n) LN_COMPARE_ENTRY(entry, double, le, <=, n)
#define ln_opck_number_int_eq(entry, n) LN_COMPARE(int, eq, ==, entry, (entry)->value_int, n)
#define ln_opck_array_int_eq(entry, n) LN_COMPARE_ARRAY(int, eq, ==, entry, n)
#define ln_opck_number_int_ne(entry, n) LN_COMPARE(int, ne, !=, entry, (entry)->value_int, n)
#define ln_opck_array_int_ne(entry, n) LN_COMPARE_ARRAY(int, ne, !=, entry, n)
#define ln_opck_number_int_gt(entry, n) LN_COMPARE(int, gt, >, entry, (entry)->value_int, n)
#define ln_opck_array_int_gt(entry, n) LN_COMPARE_ARRAY(int, gt, >, entry, n)
#define ln_opck_number_int_ge(entry, n) LN_COMPARE(int, ge, >=, entry, (entry)->value_int, n)
#define ln_opck_array_int_ge(entry, n) LN_COMPARE_ARRAY(int, ge, >=, entry, n)
#define ln_opck_number_int_lt(entry, n) LN_COMPARE(int, lt, <, entry, (entry)->value_int, n)
#define ln_opck_array_int_lt(entry, n) LN_COMPARE_ARRAY(int, lt, <, entry, n)
#define ln_opck_number_int_le(entry, n) LN_COMPARE(int, le, <=, entry, (entry)->value_int, n)
#define ln_opck_array_int_le(entry, n) LN_COMPARE_ARRAY(int, le, <=, entry, n)
#define ln_opck_number_float_eq(entry, n) LN_COMPARE(float, eq, ==, entry, (entry)->value_float, n)
#define ln_opck_array_float_eq(entry, n) LN_COMPARE_ARRAY(float, eq, ==, entry, n)
#define ln_opck_number_float_ne(entry, n) LN_COMPARE(float, ne, !=, entry, (entry)->value_float, n)
#define ln_opck_array_float_ne(entry, n) LN_COMPARE_ARRAY(float, ne, !=, entry, n)
#define ln_opck_number_float_gt(entry, n) LN_COMPARE(float, gt, >, entry, (entry)->value_float, n)
#define ln_opck_array_float_gt(entry, n) LN_COMPARE_ARRAY(float, gt, >, entry, n)
#define ln_opck_number_float_ge(entry, n) LN_COMPARE(float, ge, >=, entry, (entry)->value_float, n)
#define ln_opck_array_float_ge(entry, n) LN_COMPARE_ARRAY(float, ge, >=, entry, n)
#define ln_opck_number_float_lt(entry, n) LN_COMPARE(float, lt, <, entry, (entry)->value_float, n)
#define ln_opck_array_float_lt(entry, n) LN_COMPARE_ARRAY(float, lt, <, entry, n)
#define ln_opck_number_float_le(entry, n) LN_COMPARE(float, le, <=, entry, (entry)->value_float, n)
#define ln_opck_array_float_le(entry, n) LN_COMPARE_ARRAY(float, le, <=, entry, n)
#define ln_opck_number_double_eq(entry, n) LN_COMPARE(double, eq, ==, entry, (entry)->value_double, n)
#define ln_opck_array_double_eq(entry, n) LN_COMPARE_ARRAY(double, eq, ==, entry, n)
#define ln_opck_number_double_ne(entry, n) LN_COMPARE(double, ne, !=, entry, (entry)->value_double, n)
#define ln_opck_array_double_ne(entry, n) LN_COMPARE_ARRAY(double, ne, !=, entry, n)
#define ln_opck_number_double_gt(entry, n) LN_COMPARE(double, gt, >, entry, (entry)->value_double, n)
#define ln_opck_array_double_gt(entry, n) LN_COMPARE_ARRAY(double, gt, >, entry, n)
#define ln_opck_number_double_ge(entry, n) LN_COMPARE(double, ge, >=, entry, (entry)->value_double, n)
#define ln_opck_array_double_ge(entry, n) LN_COMPARE_ARRAY(double, ge, >=, entry, n)
#define ln_opck_number_double_lt(entry, n) LN_COMPARE(double, lt, <, entry, (entry)->value_double, n)
#define ln_opck_array_double_lt(entry, n) LN_COMPARE_ARRAY(double, lt, <, entry, n)
#define ln_opck_number_double_le(entry, n) LN_COMPARE(double, le, <=, entry, (entry)->value_double, n)
#define ln_opck_array_double_le(entry, n) LN_COMPARE_ARRAY(double, le, <=, entry, n)

/* Convert the texts of an array, each to the constant that it names. */
#define LN_CONVERT_TEXTS(entry, from_func) \
  do { (entry)->value_array_int = ln_alloc(sizeof(int) * (size_t)((entry)->array_len + 1)); \
    for (int ln_i = 0; ln_i < (entry)->array_len; ln_i++) \
      (entry)->value_array_int[ln_i] = from_func((entry)->value_array_string[ln_i]); } while (0)

/* Outputs. */

static inline ln_tensor_entry *ln_output_(ln_op_arg *op_arg, ln_tensor_list_entry *argument, int ndim,
                                          const int *dims, int dtype) {
  char shape[LN_MAXLINE];
  double length = 1;
  const char *name = argument->arg_name;
  if (ndim == -1 || dims == NULL || dtype == -1)
    ln_fail(op_arg, "evaluation", "expected 'custom' of output '%s' to set '%s_%s'", name, name,
            ndim == -1 ? "ndim" : dtype == -1 ? "dtype" : "dims");
  if (ndim < 1 || ndim > LN_MAXDIMS)
    ln_fail(op_arg, "evaluation", "expected output '%s' of 1 to %d dimensions, got %d", name, LN_MAXDIMS, ndim);
  for (int i = 0; i < ndim; i++) {
    if (dims[i] < 1)
      ln_fail(op_arg, "evaluation", "expected dims of output '%s' of at least 1, got %s", name,
              ln_sprint_shape(shape, ndim, dims));
    length *= dims[i];
  }
  if (dtype < 0 || dtype > TL_BOOL)
    ln_fail(op_arg, "evaluation", "expected a dtype of output '%s', got %d", name, dtype);
  if (length > LN_MAXINT)
    ln_fail(op_arg, "evaluation", "expected output '%s' of at most %d elements, got %.0f", name, LN_MAXINT,
            length);
  ln_tensor *tensor = ln_alloc(sizeof *tensor);
  ln_tensor_entry *entry = ln_alloc(sizeof *entry);
  *tensor = (ln_tensor){ndim, (int)length, ln_clone(dims, sizeof(int) * (size_t)ndim), dtype, NULL};
  *entry = (ln_tensor_entry){ln_text(op_arg, argument->name), tensor, 0, LN_MEM_NONE, NULL, 0,
                             ln_text(op_arg, op_arg->name)};
  return entry;
}
/* Make a tensor without data; raises where its rank, dims or dtype are none. */
#define ln_output(argument, ndim, dims, dtype) ln_output_(op_arg, argument, ndim, dims, dtype)

static inline void ln_table_insert_(ln_op_arg *op_arg, ln_tensor_entry *entry) {
  ln_tensor_table *table = op_arg->table;
  if (table->count == table->capacity)
    ln_fail(op_arg, "evaluation", "expected at most %d tensors", table->capacity);
  table->entries[table->count++] = entry;
}
#define ln_table_insert(entry) ln_table_insert_(op_arg, entry)

/* Take the outputs of an operator, and what it allocated, away again. */
static inline void ln_end(ln_op_arg *op_arg) {
  ln_tensor_table *table = op_arg->table;
  int kept = 0;
  for (int i = 0; i < table->count; i++) {
    int own = 0;
    for (void **block = op_arg->memory; block != NULL; block = *block)
      own |= (char *)table->entries[i] == (char *)block + sizeof(double) * 2;
    if (!own)
      table->entries[kept++] = table->entries[i];
  }
  table->count = kept;
  ln_free_memory(op_arg);
  op_arg->priv = NULL;
}

/* Run the checks of an operator, which jump out of them at the first that fails. */
static inline int ln_checked(ln_op_arg *op_arg, void (*checks)(ln_op_arg *)) {
  jmp_buf escape;
  op_arg->memory = op_arg->priv = NULL;
  op_arg->where = NULL;
  op_arg->error_kind[0] = op_arg->error[0] = 0;
  op_arg->escape = &escape;
  if (setjmp(escape) != 0) {
    op_arg->escape = NULL;
    ln_end(op_arg);
    return 1;
  }
  checks(op_arg);
  op_arg->escape = NULL;
  return 0;
}

/* What bodies in index notation are made of. */

/* a // b and a % b, which round down; 0 and a where b is 0. */
static inline int64_t ln_floor_divide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  if (b == -1)
    return (int64_t)(0 - (uint64_t)a);
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}
static inline int64_t ln_remainder(int64_t a, int64_t b) { return a - ln_floor_divide(a, b) * b; }

/* The greater and the less of two numbers; NaN where one of them is. */
static inline double ln_max(double a, double b) { return a > b || isnan(a) ? a : b; }
static inline double ln_min(double a, double b) { return a < b || isnan(a) ? a : b; }
static inline int64_t ln_max_int(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ln_min_int(int64_t a, int64_t b) { return a < b ? a : b; }

static inline double ln_abs(double a) { return fabs(a); }
static inline int64_t ln_abs_int(int64_t a) { return a < 0 ? -a : a; }
static inline double ln_sign(double a) { return (a > 0) - (a < 0); }
static inline int64_t ln_sign_int(int64_t a) { return (a > 0) - (a < 0); }

static inline int64_t ln_power(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = (uint64_t)base;
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  for (; exponent > 0; exponent /= 2, factor *= factor)
    if (exponent % 2)
      result *= factor;
  return (int64_t)result;
}

/* The elements of the axes of a tensor but for some before and behind. */
static inline int64_t ln_rest(const ln_tensor *tensor, int before, int behind) {
  int64_t count = 1;
  for (int axis = before; axis < tensor->ndim - behind; axis++)
    count *= tensor->dims[axis];
  return count;
}

#define ln_opck_body(condition, ...) \
  do { if (!(condition)) ln_fail(op_arg, "body", __VA_ARGS__); } while (0)

static inline void ln_opck_rank_(ln_op_arg *op_arg, const char *name, const ln_tensor *tensor, int count,
                                 int is_open) {
  ln_opck_body(is_open ? tensor->ndim >= count : tensor->ndim == count,
               "expected '%s' of %s%d dimensions, got %d", name, is_open ? "at least " : "", count,
               tensor->ndim);
}
#define ln_opck_rank(name, tensor, count, is_open) ln_opck_rank_(op_arg, name, tensor, count, is_open)

static inline void ln_opck_same_rest_(ln_op_arg *op_arg, const char *name, const ln_tensor *one, int before,
                                      int behind, const ln_tensor *other, int other_before, int other_behind) {
  int count = one->ndim - before - behind;
  int same = other->ndim - other_before - other_behind == count;
  for (int axis = 0; same && axis < count; axis++)
    same = one->dims[before + axis] == other->dims[other_before + axis];
  ln_opck_body(same, "expected '...' of '%s' to stand for the same sizes as before", name);
}
#define ln_opck_same_rest(...) ln_opck_same_rest_(op_arg, __VA_ARGS__)

#define ln_opck_extent(index, extent) \
  ln_opck_body((extent) >= 1, "expected at least one value of index '%s', got %lld", index, \
               (long long)(extent))

#define ln_opck_one_size(index, extent, name, size) \
  ln_opck_body((extent) == (size), "expected index '%s' to have one size, got %lld and %d of '%s'", \
               index, (long long)(extent), size, name)

/* Where a subscript may go: inside of the axis; or also into the padding, which a subscript whose
 * indices have no limit may not leave. */
#define LN_INSIDE 0
#define LN_PADDED 1
#define LN_LIMITED 2

static inline void ln_opck_stays_(ln_op_arg *op_arg, const char *what, const char *name, int64_t size,
                                  int64_t low, int64_t high, int64_t constant, int kind) {
  int64_t padding = ln_max_int(0, -constant);
  int fits = kind == LN_INSIDE ? high < size
             : (-padding <= low && high < size + padding) || (kind == LN_LIMITED && padding > 0);
  ln_opck_body(fits, "expected %s to stay in '%s' of size %lld, got %lld to %lld", what, name,
               (long long)size, (long long)low, (long long)high);
}
#define ln_opck_stays(...) ln_opck_stays_(op_arg, __VA_ARGS__)

static inline ln_tensor *ln_new_(ln_op_arg *op_arg, int dtype) {
  ln_tensor *tensor = ln_memory(op_arg, sizeof *tensor);
  *tensor = (ln_tensor){0, 1, ln_memory(op_arg, sizeof(int) * LN_MAXDIMS), dtype, NULL};
  return tensor;
}
/* Make a tensor without axes. */
#define ln_new(dtype) ln_new_(op_arg, dtype)

static inline void ln_add_axis_(ln_op_arg *op_arg, ln_tensor *tensor, int64_t size) {
  ln_opck_body(tensor->ndim < LN_MAXDIMS, "expected at most %d dimensions", LN_MAXDIMS);
  ln_opck_body(size <= LN_MAXINT / tensor->len, "expected at most %d elements of a tensor", LN_MAXINT);
  tensor->dims[tensor->ndim++] = (int)size;
  tensor->len *= (int)size;
}
#define ln_add_axis(tensor, size) ln_add_axis_(op_arg, tensor, size)

static inline void ln_add_rest_(ln_op_arg *op_arg, ln_tensor *tensor, const ln_tensor *of, int before,
                                int behind) {
  for (int axis = before; axis < of->ndim - behind; axis++)
    ln_add_axis(tensor, of->dims[axis]);
}
#define ln_add_rest(tensor, of, before, behind) ln_add_rest_(op_arg, tensor, of, before, behind)

#endif
