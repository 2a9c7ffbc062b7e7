/* kanon.h for Python: one call that runs a command, and what surrounds it. Everything that has a shape of its own in
 * Python (keywords, results, exceptions, tables) is made of it in the modules beside this file.
 *
 * Only the stable ABI of Python 3.11 is used, so one build serves all later versions. Commands run without the GIL;
 * their progress function takes it back, looks for signals, and calls Python. No state is kept between calls. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <kanon_arrow.h>
#include <stdlib.h>
#include <string.h>

typedef kn_status job_fn(kn_result **out, const kn_settings *settings, kn_error *err);

static const struct command {
    const char *name;
    kn_command id;
    job_fn *run;
} commands[] = {
    {"anonymize", KN_COMMAND_ANONYMIZE, kn_anonymize},
    {"verify", KN_COMMAND_VERIFY, kn_verify},
    {"measure", KN_COMMAND_MEASURE, kn_measure_files},
    {"lattice", KN_COMMAND_LATTICE, kn_lattice_nodes},
    {"risk", KN_COMMAND_RISK, kn_risk},
    {"compare", KN_COMMAND_COMPARE, kn_compare_runs},
    {"profile", KN_COMMAND_PROFILE, kn_profile},
    {"check", KN_COMMAND_CHECK, kn_check_policy},
    {"hierarchy", KN_COMMAND_HIERARCHY, kn_hierarchy},
    {"list", KN_COMMAND_LIST, kn_list},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static PyObject *text_of(const char *text)
{
    if (text == NULL) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* --- Streams of Arrow batches ------------------------------------------------------------------------------------ */

static const char STREAM[] = "arrow_array_stream"; /* the name that the PyCapsule interface gives such a capsule */

static void stream_free(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);
    if (stream == NULL) return;
    if (stream->release != NULL) stream->release(stream);
    free(stream);
}

/* Takes the stream's content. */
static PyObject *stream_capsule(struct ArrowArrayStream *content)
{
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (stream == NULL) {
        content->release(content);
        return PyErr_NoMemory();
    }
    *stream = *content;
    PyObject *capsule = PyCapsule_New(stream, STREAM, stream_free);
    if (capsule == NULL) {
        stream->release(stream);
        free(stream);
    }
    return capsule;
}

/* --- A table from columns in Python ------------------------------------------------------------------------------ */

/* One batch with all its memory; the schema and the array each hold it. */
typedef struct made_table {
    int n_holders;
    int64_t n_columns;
    struct made_column {
        struct ArrowSchema schema;
        struct ArrowArray array;
        const void *buffers[3];
        char *name, *format;
        uint8_t *valid;
        void *values, *offsets;
    } * columns;
    struct ArrowSchema **schemas;
    struct ArrowArray **arrays;
    const void *no_buffer[1];
    int64_t n_rows;
    bool given; /* the batch */
} made_table;

static void let_go(made_table *table)
{
    if (table == NULL || --table->n_holders > 0) return;
    for (int64_t c = 0; table->columns != NULL && c < table->n_columns; c++) {
        struct made_column *column = &table->columns[c];
        free(column->name);
        free(column->format);
        free(column->valid);
        free(column->values);
        free(column->offsets);
    }
    free(table->columns);
    free(table->schemas);
    free(table->arrays);
    free(table);
}

static void release_part_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_part_array(struct ArrowArray *array) { array->release = NULL; }

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
    let_go(schema->private_data);
}

static void release_array(struct ArrowArray *array)
{
    array->release = NULL;
    let_go(array->private_data);
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    made_table *table = stream->private_data;
    table->n_holders++;
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = table->n_columns,
                                .children = table->schemas,
                                .release = release_schema,
                                .private_data = table};
    return 0;
}

static int give_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    made_table *table = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (table->given) return 0;
    table->given = true;
    table->n_holders++;
    *out = (struct ArrowArray){.length = table->n_rows,
                               .n_buffers = 1,
                               .buffers = table->no_buffer,
                               .n_children = table->n_columns,
                               .children = table->arrays,
                               .release = release_array,
                               .private_data = table};
    return 0;
}

static const char *no_error(struct ArrowArrayStream *stream) { return NULL; }

static void release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
    let_go(stream->private_data);
}

/* A list of str, bytes-like spellings are none of ours; None is a null. */
static bool fill_strings(struct made_column *column, PyObject *list, int64_t n_rows)
{
    int64_t n_bytes = 0, *offsets = calloc((size_t)n_rows + 1, sizeof *offsets);
    char *values = NULL;
    column->offsets = offsets;
    column->valid = calloc((size_t)n_rows / 8 + 1, 1);
    if (offsets == NULL || column->valid == NULL) return PyErr_NoMemory() != NULL;
    for (int pass = 0; pass < 2; pass++) {
        n_bytes = 0;
        for (int64_t i = 0; i < n_rows; i++) {
            PyObject *item = PyList_GetItem(list, (Py_ssize_t)i); /* borrowed */
            Py_ssize_t n = 0;
            if (item == NULL) return false;
            const char *text = item != Py_None ? PyUnicode_AsUTF8AndSize(item, &n) : NULL;
            if (text == NULL && item != Py_None) return false;
            if (text != NULL && pass == 1) {
                memcpy(values + n_bytes, text, (size_t)n);
                column->valid[i / 8] |= (uint8_t)(1 << i % 8);
            }
            n_bytes += n;
            offsets[i + 1] = n_bytes;
        }
        if (pass == 0 && (column->values = values = malloc((size_t)n_bytes + 1)) == NULL)
            return PyErr_NoMemory() != NULL;
    }
    column->buffers[1] = column->offsets;
    column->buffers[2] = column->values;
    column->array.n_buffers = 3;
    column->array.null_count = -1;
    return true;
}

/* Fixed-width values of any object with a buffer, copied: the object may change while a job runs. `least_is_null`: the
 * least 64-bit integer is a null, as NumPy's NaT is. */
static bool fill_fixed(struct made_column *column, PyObject *values, bool least_is_null, int64_t n_rows)
{
    Py_buffer view;
    if (PyObject_GetBuffer(values, &view, PyBUF_C_CONTIGUOUS) != 0) return false;
    column->values = malloc((size_t)view.len + 1);
    bool fits = view.itemsize > 0 && view.len == n_rows * view.itemsize && (!least_is_null || view.itemsize == 8);
    if (column->values == NULL) PyErr_NoMemory();
    else if (!fits) PyErr_SetString(PyExc_ValueError, "the columns of a table have one length");
    else memcpy(column->values, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    if (column->values == NULL || !fits) return false;
    if (least_is_null) {
        column->valid = calloc((size_t)n_rows / 8 + 1, 1);
        if (column->valid == NULL) return PyErr_NoMemory() != NULL;
        for (int64_t i = 0; i < n_rows; i++)
            if (((const int64_t *)column->values)[i] != INT64_MIN) column->valid[i / 8] |= (uint8_t)(1 << i % 8);
        column->array.null_count = -1;
    }
    column->buffers[1] = column->values;
    column->array.n_buffers = 2;
    return true;
}

/* (name, format, values): Arrow's format, "U" for a list of str and None, behind a "?" where the least is null. */
static bool fill_column(made_table *table, int64_t c, PyObject *described)
{
    struct made_column *column = &table->columns[c];
    const char *name, *format;
    PyObject *values;
    if (!PyArg_ParseTuple(described, "ssO", &name, &format, &values)) return false;
    bool least_is_null = format[0] == '?';
    column->name = strdup(name);
    column->format = strdup(format + least_is_null);
    if (column->name == NULL || column->format == NULL) return PyErr_NoMemory() != NULL;
    bool is_text = strcmp(format, "U") == 0;
    Py_ssize_t n = PyObject_Length(values);
    if (n < 0) return false;
    if (c == 0) table->n_rows = n;
    if (n != table->n_rows || (is_text && !PyList_Check(values))) {
        PyErr_Format(PyExc_ValueError, "column '%s' has %zd values, the columns before it %lld", name, n,
                     (long long)table->n_rows);
        return false;
    }
    if (!(is_text ? fill_strings(column, values, n) : fill_fixed(column, values, least_is_null, n))) return false;
    column->buffers[0] = column->valid;
    column->array.length = n;
    column->array.buffers = column->buffers;
    column->array.release = release_part_array;
    column->schema = (struct ArrowSchema){
        .format = column->format, .name = column->name, .flags = ARROW_FLAG_NULLABLE, .release = release_part_schema};
    table->schemas[c] = &column->schema;
    table->arrays[c] = &column->array;
    return true;
}

static PyObject *columns_stream(PyObject *module, PyObject *list)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "a list of (name, format, values)");
        return NULL;
    }
    made_table *table = calloc(1, sizeof *table);
    if (table == NULL) return PyErr_NoMemory();
    size_t n = (size_t)PyList_Size(list);
    table->n_holders = 1;
    table->n_columns = (int64_t)n;
    table->columns = calloc(n + 1, sizeof *table->columns);
    table->schemas = calloc(n + 1, sizeof *table->schemas);
    table->arrays = calloc(n + 1, sizeof *table->arrays);
    bool done = table->columns != NULL && table->schemas != NULL && table->arrays != NULL;
    if (!done) PyErr_NoMemory();
    for (size_t c = 0; done && c < n; c++) done = fill_column(table, (int64_t)c, PyList_GetItem(list, (Py_ssize_t)c));
    if (!done) {
        let_go(table);
        return NULL;
    }
    struct ArrowArrayStream stream = {give_schema, give_batch, no_error, release_stream, table};
    return stream_capsule(&stream);
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

typedef struct py_result {
    PyObject_HEAD kn_result *result;
} py_result;

static kn_result *held(PyObject *self) { return ((py_result *)self)->result; }

static void result_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    kn_result_free(held(self));
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(self);
    Py_DECREF(type);
}

static PyObject *result_json(PyObject *self, PyObject *none) { return text_of(kn_result_json(held(self))); }
static PyObject *result_text(PyObject *self, PyObject *none) { return text_of(kn_result_text(held(self))); }
static PyObject *result_warnings(PyObject *self, PyObject *none) { return text_of(kn_result_warnings(held(self))); }

static PyObject *result_kept(PyObject *self, PyObject *option)
{
    const char *name = PyUnicode_AsUTF8AndSize(option, NULL);
    return name != NULL ? text_of(kn_result_kept(held(self), name)) : NULL;
}

static PyObject *result_stream(PyObject *self, PyObject *none)
{
    struct ArrowArrayStream stream;
    kn_error err = {0};
    kn_status status = kn_result_table(held(self), &stream, &err);
    if (status == KN_OK) return stream_capsule(&stream);
    PyErr_SetString(status == KN_RESOURCES ? PyExc_MemoryError : PyExc_ValueError, err.message);
    return NULL;
}

/* (name, "l", "g" or "tdD", values): numbers, and dates as days since 1970; None for a null. */
static PyObject *typed_column(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    const uint8_t *valid = array->buffers[0];
    const void *from = array->buffers[1];
    PyObject *values = PyList_New((Py_ssize_t)array->length);
    for (int64_t row = 0; values != NULL && row < array->length; row++) {
        bool is_null = valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0;
        PyObject *value = is_null                    ? Py_NewRef(Py_None)
                          : schema->format[0] == 'l' ? PyLong_FromLongLong(((const int64_t *)from)[row])
                          : schema->format[0] == 'g' ? PyFloat_FromDouble(((const double *)from)[row])
                                                     : PyLong_FromLong(((const int32_t *)from)[row]);
        if (value == NULL || PyList_SetItem(values, (Py_ssize_t)row, value) != 0) Py_CLEAR(values);
    }
    return values != NULL ? Py_BuildValue("NNN", text_of(schema->name), text_of(schema->format), values) : NULL;
}

/* (name, texts, indices as int32, -1 for a null). */
static PyObject *dictionary_column(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    const struct ArrowArray *values = array->dictionary;
    const bool large = schema->dictionary->format[0] == 'U';
    const uint8_t *valid = array->buffers[0];
    PyObject *texts = PyList_New((Py_ssize_t)values->length);
    PyObject *codes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(array->length * (int64_t)sizeof(int32_t)));
    for (int64_t i = 0; texts != NULL && i < values->length; i++) {
        int64_t begin = large ? ((const int64_t *)values->buffers[1])[i] : ((const int32_t *)values->buffers[1])[i];
        int64_t end =
            large ? ((const int64_t *)values->buffers[1])[i + 1] : ((const int32_t *)values->buffers[1])[i + 1];
        PyObject *text =
            PyUnicode_DecodeUTF8((const char *)values->buffers[2] + begin, (Py_ssize_t)(end - begin), NULL);
        if (text == NULL || PyList_SetItem(texts, (Py_ssize_t)i, text) != 0) Py_CLEAR(texts);
    }
    if (texts == NULL || codes == NULL) {
        Py_XDECREF(texts);
        Py_XDECREF(codes);
        return NULL;
    }
    int32_t *to = (int32_t *)PyBytes_AsString(codes);
    for (int64_t row = 0; row < array->length; row++) {
        const void *from = array->buffers[1];
        bool is_null = valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0;
        int64_t code = schema->format[0] == 'c'   ? ((const int8_t *)from)[row]
                       : schema->format[0] == 's' ? ((const int16_t *)from)[row]
                       : schema->format[0] == 'i' ? ((const int32_t *)from)[row]
                                                  : ((const int64_t *)from)[row];
        to[row] = is_null ? -1 : (int32_t)code;
    }
    return Py_BuildValue("NNN", text_of(schema->name), texts, codes);
}

static PyObject *result_columns(PyObject *self, PyObject *none)
{
    PyObject *capsule = result_stream(self, NULL), *list = NULL;
    struct ArrowArrayStream *stream = capsule != NULL ? PyCapsule_GetPointer(capsule, STREAM) : NULL;
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray batch = {.release = NULL};
    if (stream == NULL) goto done;
    if (stream->get_schema(stream, &schema) != 0 || stream->get_next(stream, &batch) != 0 || batch.release == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the table cannot be read");
        goto done;
    }
    list = PyList_New(0);
    for (int64_t c = 0; list != NULL && c < schema.n_children; c++) {
        bool is_text = schema.children[c]->dictionary != NULL;
        PyObject *column = (is_text ? dictionary_column : typed_column)(schema.children[c], batch.children[c]);
        if (column == NULL || PyList_Append(list, column) != 0) Py_CLEAR(list);
        Py_XDECREF(column);
    }
done:
    if (schema.release != NULL) schema.release(&schema);
    if (batch.release != NULL) batch.release(&batch);
    Py_XDECREF(capsule);
    return list;
}

static int write_piece(void *function, const char *bytes, size_t n_bytes)
{
    PyObject *done = PyObject_CallFunction(function, "y#", bytes, (Py_ssize_t)n_bytes);
    Py_XDECREF(done);
    return done == NULL;
}

static PyObject *result_csv(PyObject *self, PyObject *write)
{
    kn_error err = {0};
    kn_status status = kn_result_csv(held(self), write_piece, write, &err);
    if (status == KN_OK) Py_RETURN_NONE;
    if (!PyErr_Occurred()) PyErr_SetString(status == KN_RESOURCES ? PyExc_MemoryError : PyExc_ValueError, err.message);
    return NULL;
}

static PyObject *result_records(PyObject *self, PyObject *none)
{
    size_t n;
    const uint32_t *records = kn_result_records(held(self), &n);
    if (records == NULL) Py_RETURN_NONE;
    return PyBytes_FromStringAndSize((const char *)records, (Py_ssize_t)(n * sizeof *records));
}

static PyMethodDef result_methods[] = {
    {"json", result_json, METH_NOARGS, "json($self, /)\n--\n\nThe facts, as JSON."},
    {"text", result_text, METH_NOARGS, "text($self, /)\n--\n\nThe summary for a person."},
    {"warnings", result_warnings, METH_NOARGS, "warnings($self, /)\n--\n\nOne per line."},
    {"kept", result_kept, METH_O, "kept($self, option, /)\n--\n\nWhat the option, set to 'text:', would have written."},
    {"stream", result_stream, METH_NOARGS, "stream($self, /)\n--\n\nThe released table: an arrow_array_stream."},
    {"columns", result_columns, METH_NOARGS,
     "columns($self, /)\n--\n\n(name, texts, indices) or (name, format, values) of each."},
    {"records", result_records, METH_NOARGS, "records($self, /)\n--\n\nWhich record each row was, as uint32; or None."},
    {"csv", result_csv, METH_O,
     "csv($self, write, /)\n--\n\nCalls write(bytes) with piece after piece of the CSV file."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot result_slots[] = {
    {Py_tp_dealloc, result_free},
    {Py_tp_methods, result_methods},
    {Py_tp_doc, "What a command found, as the library holds it."},
    {0, NULL},
};

static PyType_Spec result_spec = {
    .name = "kanon._kanon.Result",
    .basicsize = sizeof(py_result),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = result_slots,
};

typedef struct module_state {
    PyObject *result_type;
} module_state;

/* --- Running ------------------------------------------------------------------------------------------------------ */

/* For errors.py. */
static PyObject *error_dict(kn_status status, const kn_error *err)
{
    return Py_BuildValue("{s:i,s:N,s:N,s:N,s:K,s:K,s:N}", "code", (int)status, "message", text_of(err->message),
                         "option", text_of(err->option), "file", text_of(err->file), "line", err->line, "character",
                         err->character, "column", text_of(err->column));
}

/* What else is wrong with a policy that was refused. */
static PyObject *others_of(const kn_settings *settings)
{
    const kn_error *other;
    PyObject *list = PyList_New(0);
    for (size_t n = 1; list != NULL && (other = kn_settings_nth_problem(settings, n)) != NULL; n++) {
        PyObject *about = error_dict(other->code, other);
        if (about == NULL || PyList_Append(list, about) != 0) Py_CLEAR(list);
        Py_XDECREF(about);
    }
    return list;
}

/* None, or what went wrong, and `others`, which it takes. */
static PyObject *error_of(kn_status status, const kn_error *err, PyObject *others)
{
    PyObject *about = status != KN_OK && others != NULL ? error_dict(status, err) : NULL;
    if (about != NULL && PyDict_SetItemString(about, "others", others) != 0) Py_CLEAR(about);
    const bool failed = others == NULL || (status != KN_OK && about == NULL);
    Py_XDECREF(others);
    if (about != NULL || failed) return about;
    Py_RETURN_NONE;
}

static kn_status set_options(kn_settings *settings, PyObject *pairs, kn_error *err)
{
    for (Py_ssize_t i = 0; i < PyList_Size(pairs); i++) {
        const char *option, *value;
        if (!PyArg_ParseTuple(PyList_GetItem(pairs, i), "ss", &option, &value)) return KN_USAGE;
        kn_status status = kn_settings_set(settings, option, value, err);
        if (status != KN_OK) return status;
    }
    return KN_OK;
}

/* Producers take the GIL themselves where they need it, and some would wait for it forever otherwise. */
static kn_status set_tables(kn_settings *settings, PyObject *pairs, kn_error *err)
{
    for (Py_ssize_t i = 0; i < PyList_Size(pairs); i++) {
        const char *name;
        PyObject *capsule;
        if (!PyArg_ParseTuple(PyList_GetItem(pairs, i), "sO", &name, &capsule)) return KN_USAGE;
        struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);
        kn_status status = KN_USAGE;
        if (stream == NULL) return status;
        if (stream->release == NULL) {
            PyErr_SetString(PyExc_ValueError, "the stream was read already; make a new one");
            return status;
        }
        Py_BEGIN_ALLOW_THREADS status = kn_settings_set_table(settings, name, stream, err);
        Py_END_ALLOW_THREADS if (status != KN_OK) return status;
    }
    return KN_OK;
}

static kn_status set_policy(kn_settings *settings, PyObject *policy, kn_error *err)
{
    const char *text, *name;
    Py_ssize_t n_bytes;
    if (policy == Py_None) return KN_OK;
    if (!PyArg_ParseTuple(policy, "s#s", &text, &n_bytes, &name)) return KN_USAGE;
    return kn_settings_load_text(settings, text, (size_t)n_bytes, name, err);
}

typedef struct call {
    PyThreadState *thread; /* while the GIL is released */
    PyObject *progress;    /* borrowed; None: nobody wants to know */
    bool answer_interrupt; /* the first interrupt asks for the best release so far, instead of an exception */
    PyObject *type, *value, *traceback; /* of an exception that ends the job */
} call;

static bool is_first_interrupt(call *c)
{
    bool is = c->answer_interrupt && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
    if (is) PyErr_Clear();
    c->answer_interrupt = false;
    return is;
}

/* On the thread that called the job. */
static int on_progress(void *user, const char *stage, double fraction)
{
    call *c = user;
    int stop = 0;
    if (c->type != NULL) return 1;
    PyEval_RestoreThread(c->thread);
    bool failed = PyErr_CheckSignals() != 0;
    if (!failed && c->progress != Py_None) {
        PyObject *answer = PyObject_CallFunction(c->progress, "sd", stage, fraction);
        failed = answer == NULL;
        int truth = failed ? 0 : PyObject_IsTrue(answer);
        failed |= truth < 0;
        stop = truth > 0;
        Py_XDECREF(answer);
    }
    if (failed && is_first_interrupt(c)) { /* it may have come while the function ran */
        failed = false;
        stop = 1;
    }
    if (failed) PyErr_Fetch(&c->type, &c->value, &c->traceback);
    c->thread = PyEval_SaveThread();
    return stop || failed;
}

static PyObject *wrap_result(PyObject *module, kn_result *result)
{
    module_state *state = PyModule_GetState(module);
    if (result == NULL) Py_RETURN_NONE;
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)state->result_type, Py_tp_alloc);
    PyObject *self = allocate((PyTypeObject *)state->result_type, 0);
    if (self == NULL) kn_result_free(result);
    else ((py_result *)self)->result = result;
    return self;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    PyErr_Format(PyExc_ValueError, "there is no command '%s'", name);
    return NULL;
}

static PyObject *run(PyObject *module, PyObject *arguments)
{
    const char *name;
    PyObject *options, *tables, *policy, *found = NULL, *others = NULL;
    int answer_interrupt;
    call c = {0};
    kn_settings *settings = NULL;
    kn_result *result = NULL;
    kn_error *err = calloc(1, sizeof *err); /* too large for a small thread's stack */
    if (err == NULL) return PyErr_NoMemory();
    if (!PyArg_ParseTuple(arguments, "sOOOOp:run", &name, &options, &tables, &policy, &c.progress, &answer_interrupt))
        goto done;
    const struct command *command = find_command(name);
    if (command == NULL) goto done;
    c.answer_interrupt = answer_interrupt;
    kn_status status = kn_settings_new(&settings, err);
    if (status == KN_OK) status = set_policy(settings, policy, err);
    if (status == KN_OK) status = set_options(settings, options, err);
    if (status == KN_OK) status = set_tables(settings, tables, err);
    if (PyErr_Occurred() || (others = others_of(settings)) == NULL) goto done;
    c.thread = PyEval_SaveThread();
    if (status == KN_OK) {
        kn_settings_on_progress(settings, on_progress, &c);
        status = command->run(&result, settings, err);
    }
    kn_settings_free(settings); /* releases the tables, which may need the GIL from any thread */
    settings = NULL;
    PyEval_RestoreThread(c.thread);
    if (c.type != NULL) {
        PyErr_Restore(c.type, c.value, c.traceback);
        goto done;
    }
    PyObject *held_result = wrap_result(module, result);
    result = NULL;
    if (held_result != NULL) found = Py_BuildValue("NN", error_of(status, err, others), held_result);
    if (held_result != NULL) others = NULL;
done:
    Py_XDECREF(others);
    kn_result_free(result);
    kn_settings_free(settings);
    free(err);
    return found;
}

/* --- Policies ----------------------------------------------------------------------------------------------------- */

static int append_piece(void *user, const char *bytes, size_t n_bytes)
{
    PyObject **text = user, *piece = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n_bytes);
    if (piece != NULL) PyBytes_ConcatAndDel(text, piece);
    return piece == NULL || *text == NULL;
}

static PyObject *list_settings(const kn_settings *settings)
{
    const char *option, *value;
    PyObject *list = PyList_New(0);
    for (size_t n = 0; list != NULL && kn_settings_nth_in_force(settings, n, &option, &value); n++) {
        PyObject *pair = Py_BuildValue("ss", option, value);
        if (pair == NULL || PyList_Append(list, pair) != 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* (error, YAML or None, settings in force) of a policy and options that override it. */
static PyObject *policy(PyObject *module, PyObject *arguments)
{
    PyObject *options, *text, *found = NULL, *saved = PyBytes_FromStringAndSize("", 0), *list = NULL;
    kn_settings *settings = NULL;
    kn_error *err = calloc(1, sizeof *err);
    int save;
    if (err == NULL || saved == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (!PyArg_ParseTuple(arguments, "OOp:policy", &text, &options, &save)) goto done;
    kn_status status = kn_settings_new(&settings, err);
    if (status == KN_OK) status = set_policy(settings, text, err);
    if (status == KN_OK) status = set_options(settings, options, err);
    if (status == KN_OK && save) status = kn_settings_save(settings, append_piece, &saved, err);
    if (PyErr_Occurred() || (list = list_settings(settings)) == NULL) goto done;
    found = Py_BuildValue("NNO", error_of(status, err, others_of(settings)),
                          PyUnicode_FromEncodedObject(saved, "utf-8", "replace"), list);
done:
    Py_XDECREF(list);
    Py_XDECREF(saved);
    kn_settings_free(settings);
    free(err);
    return found;
}

/* --- What there is ------------------------------------------------------------------------------------------------ */

/* (name, argument or None, group, help, [commands]) of every option. */
static PyObject *options(PyObject *module, PyObject *none)
{
    size_t n;
    const kn_option *all = kn_options(&n);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *names = PyList_New(0), *item = NULL;
        for (size_t c = 0; names != NULL && c < N_COMMANDS; c++) {
            if ((all[i].commands & commands[c].id) == 0) continue;
            PyObject *name = text_of(commands[c].name);
            if (name == NULL || PyList_Append(names, name) != 0) Py_CLEAR(names);
            Py_XDECREF(name);
        }
        if (names != NULL)
            item = Py_BuildValue("szssN", all[i].name, all[i].argument, all[i].group, all[i].help, names);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *nearest(PyObject *module, PyObject *arguments)
{
    const char *name, *command_name;
    if (!PyArg_ParseTuple(arguments, "ss:nearest", &name, &command_name)) return NULL;
    const struct command *command = find_command(command_name);
    return command != NULL ? text_of(kn_option_nearest(name, command->id)) : NULL;
}

static PyObject *version(PyObject *module, PyObject *none) { return text_of(kn_version()); }

static PyMethodDef methods[] = {
    {"run", run, METH_VARARGS,
     "run(command, options, tables, policy, progress, answer_interrupt, /)\n--\n\n(error, result) of a command."},
    {"policy", policy, METH_VARARGS,
     "policy(policy, options, save, /)\n--\n\n(error, YAML, settings in force) of a policy with options."},
    {"columns", columns_stream, METH_O,
     "columns(columns, /)\n--\n\nAn arrow_array_stream of [(name, format, values), ...]."},
    {"options", options, METH_NOARGS, "options()\n--\n\n(name, argument, group, help, commands) of every option."},
    {"nearest", nearest, METH_VARARGS,
     "nearest(name, command, /)\n--\n\nThe option that a misspelt name was meant to be, or None."},
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of the library."},
    {NULL, NULL, 0, NULL},
};

static int module_fill(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    state->result_type = PyType_FromSpec(&result_spec);
    if (state->result_type == NULL) return -1;
    return PyModule_AddObjectRef(module, "Result", state->result_type);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    Py_VISIT(state->result_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->result_type);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_fill}, {0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "kanon._kanon",
    .m_doc = "kanon.h, for the modules beside it.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__kanon(void) { return PyModuleDef_Init(&definition); }
