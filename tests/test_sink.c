/* sink/: files that appear whole or not at all, alone and together, and what a killed run leaves. */
#include "file_support.h"
#include "support.h"

#include "sink/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT(literal) literal, sizeof literal - 1

static void assert_file_holds(const char *path, const char *text)
{
    char *bytes = read_file(path, NULL);
    assert_string_equal(bytes, text);
    free(bytes);
}

/* --- One output -------------------------------------------------------------------------------------------------- */

static unsigned mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static void an_output_appears_whole_or_not_at_all(void **state)
{
    kn_output *output;
    const char *path = path_of("out.csv");
    mode_t old_mask = umask(027);
    write_file(path, TEXT("old"));
    assert_ok(kn_output_open(&output, path, err));
    assert_ok(kn_output_write(output, "new ", 4, err));
    assert_ok(kn_output_write(output, "text", 4, err));
    assert_ok(kn_output_flush(output, err));
    assert_file_holds(path, "old");
    assert_file_holds(kn_output_path(output), "new text");
    assert_int_equal(mode_of(kn_output_path(output)), 0600);
    assert_ok(kn_outputs_commit(&output, 1, NULL, err));
    kn_output_discard(output);
    assert_file_holds(path, "new text");
    assert_int_equal(mode_of(path), 0640);
    umask(old_mask);

    char temporary[256];
    assert_ok(kn_output_open(&output, path, err));
    assert_ok(kn_output_write(output, "unwanted", 8, err));
    assert_ok(kn_output_flush(output, err));
    strcpy(temporary, kn_output_path(output));
    kn_output_discard(output);
    assert_file_holds(path, "new text");
    assert_int_not_equal(access(temporary, F_OK), 0);
}

static void a_replaced_file_stays_as_closed_as_it_was(void **state)
{
    const struct {
        mode_t umask, before;
        unsigned after;
    } cases[] = {{022, 0600, 0600}, {022, 0640, 0640}, {022, 0666, 0644}, {077, 0644, 0600}, {022, 0755, 0644}};
    const char *path = path_of("closed.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file(path, TEXT("old"));
        assert_int_equal(chmod(path, cases[i].before), 0);
        mode_t old_mask = umask(cases[i].umask);
        assert_ok(kn_output_text(path, "new", err));
        umask(old_mask);
        assert_int_equal(mode_of(path), cases[i].after);
    }
}

static void large_writes_arrive(void **state)
{
    kn_output *output;
    const char *path = path_of("large.csv");
    char *block = malloc(1 << 20);
    memset(block, 'x', 1 << 20);
    assert_ok(kn_output_open(&output, path, err));
    for (size_t n = 1; n <= 1 << 20; n *= 2) assert_ok(kn_output_write(output, block, n, err));
    assert_ok(kn_outputs_commit(&output, 1, NULL, err));
    kn_output_discard(output);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_size, (1 << 21) - 1);
    free(block);
}

static void a_link_stays_and_its_file_is_replaced(void **state)
{
    struct stat about;
    const char *path = path_of("real.csv"), *link_path = path_of("link.csv");
    write_file(path, TEXT("old"));
    assert_int_equal(symlink(path, link_path), 0);
    assert_ok(kn_output_text(link_path, "new", err));
    assert_file_holds(path, "new");
    assert_int_equal(lstat(link_path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
}

static void devices_are_written_to_and_stay_devices(void **state)
{
    struct stat about;
    assert_ok(kn_output_text("/dev/null", "anything", err));
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    kn_error err = {0};
    if (access("/dev/full", W_OK) != 0) return;
    assert_int_equal(kn_output_text("/dev/full", "anything", &err), KN_INPUT);
    assert_non_null(strstr(err.message, "/dev/full: cannot be written: No space left"));
}

static void what_cannot_be_written_is_refused_at_once(void **state)
{
    kn_output *output;
    kn_error err = {0}, err_2 = {0}, err_3 = {0};
    assert_int_equal(kn_output_open(&output, path_of("none/out.csv"), &err), KN_INPUT);
    assert_non_null(strstr(err.message, "No such file or directory"));
    assert_int_equal(kn_output_open(&output, folder, &err_2), KN_INPUT);
    assert_non_null(strstr(err_2.message, "is a folder"));
    assert_int_equal(kn_output_open(&output, "", &err_3), KN_USAGE);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    /* In a child: a limit on the size of files stands in for the disk. */
    const char *path = path_of("limited.csv");
    write_file(path, TEXT("old"));
    pid_t child = fork();
    if (child == 0) {
        kn_output *output;
        kn_error err = {0};
        char block[1000] = {0};
        struct rlimit limit = {300000, 300000};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        if (kn_output_open(&output, path, &err) != KN_OK) _exit(1);
        kn_status status = KN_OK;
        for (int i = 0; i < 1000 && status == KN_OK; i++) status = kn_output_write(output, block, sizeof block, &err);
        bool told = strstr(err.message, "File too large") != NULL && strstr(err.message, "nothing was changed") != NULL;
        kn_output_discard(output);
        _exit(status == KN_INPUT && told ? 0 : 2);
    }
    int result;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    assert_file_holds(path, "old");
}

static void stdout_is_spooled_until_commit(void **state)
{
    kn_output *output;
    const char *path = path_of("stdout.txt");
    fflush(stdout);
    int old_stdout = dup(STDOUT_FILENO), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    assert_ok(kn_output_open(&output, "-", err));
    assert_ok(kn_output_write(output, "spooled", 7, err));
    assert_ok(kn_output_flush(output, err));
    assert_file_holds(path, "");
    assert_file_holds(kn_output_path(output), "spooled");
    assert_ok(kn_outputs_commit(&output, 1, NULL, err));
    kn_output_discard(output);
    dup2(old_stdout, STDOUT_FILENO);
    close(old_stdout);
    close(file);
    assert_file_holds(path, "spooled");
}

/* --- Several outputs --------------------------------------------------------------------------------------------- */

static kn_output *open_with(const char *path, const char *text)
{
    kn_output *output;
    assert_ok(kn_output_open(&output, path, err));
    assert_ok(kn_output_write(output, text, strlen(text), err));
    return output;
}

static void discard_all(kn_output **outputs, size_t n)
{
    for (size_t i = 0; i < n; i++) kn_output_discard(outputs[i]);
}

static void a_failure_half_way_tells_what_was_replaced(void **state)
{
    static const char *const names[] = {"half.json", "half.html", "half.csv"};
    kn_output *outputs[3];
    kn_error err = {0};
    char expected[1024];
    for (int i = 0; i < 3; i++) {
        write_file(path_of(names[i]), TEXT("old"));
        outputs[i] = open_with(path_of(names[i]), "new");
    }
    unlink(path_of(names[1])); /* a folder in its place cannot be renamed over */
    assert_int_equal(mkdir(path_of(names[1]), 0700), 0);
    assert_int_equal(kn_outputs_commit(outputs, 3, NULL, &err), KN_INPUT);
    snprintf(expected, sizeof expected,
             "%s: cannot be replaced: Is a directory; written already: %s; as it was: %s, %s", path_of(names[1]),
             path_of(names[0]), path_of(names[1]), path_of(names[2]));
    assert_string_equal(err.message, expected);
    discard_all(outputs, 3);
    assert_file_holds(path_of(names[0]), "new");
    assert_file_holds(path_of(names[2]), "old");
    assert_int_equal(rmdir(path_of(names[1])), 0);
}

static unsigned n_hidden(void)
{
    unsigned n = 0;
    DIR *list = opendir(folder);
    struct dirent *entry;
    while ((entry = readdir(list)) != NULL) n += strncmp(entry->d_name, ".kanon-", 7) == 0;
    closedir(list);
    return n;
}

/* A limit on the size of files stands in for the disk; in a child, because it cannot be taken back. */
static void no_output_is_replaced_when_one_does_not_fit(void **state)
{
    static const char *const names[] = {"fit.json", "fit.html", "fit.csv"};
    for (int large = 0; large < 3; large++) {
        for (int i = 0; i < 3; i++) write_file(path_of(names[i]), TEXT("old"));
        pid_t child = fork();
        if (child == 0) {
            kn_output *outputs[3];
            kn_error err = {0};
            kn_status status = KN_OK;
            char *block = calloc(1, 200000);
            struct rlimit limit = {100000, 100000};
            signal(SIGXFSZ, SIG_IGN);
            setrlimit(RLIMIT_FSIZE, &limit);
            for (int i = 0; i < 3; i++) outputs[i] = open_with(path_of(names[i]), "new");
            status = kn_output_write(outputs[large], block, 200000, &err); /* fits the buffer, not the disk */
            if (status == KN_OK) status = kn_outputs_commit(outputs, 3, NULL, &err);
            bool told = strstr(err.message, "File too large; nothing was changed") != NULL;
            discard_all(outputs, 3);
            _exit(status == KN_INPUT && told ? 0 : 2);
        }
        int result;
        waitpid(child, &result, 0);
        assert_int_equal(result, 0);
        for (int i = 0; i < 3; i++) assert_file_holds(path_of(names[i]), "old");
        assert_int_equal(n_hidden(), 0);
    }
}

static void a_stream_that_fails_keeps_the_files(void **state)
{
    if (access("/dev/full", W_OK) != 0) skip();
    kn_error err = {0};
    write_file(path_of("kept.csv"), TEXT("old"));
    kn_output *outputs[] = {open_with(path_of("kept.csv"), "new"), open_with("/dev/full", "new")};
    assert_int_equal(kn_outputs_commit(outputs, 2, NULL, &err), KN_INPUT);
    assert_string_equal(err.message, "/dev/full: cannot be written: No space left on device; no file was changed");
    discard_all(outputs, 2);
    assert_file_holds(path_of("kept.csv"), "old");
}

/* --- Killed runs -------------------------------------------------------------------------------------------------- */

/* A child that is killed while it writes. */
static void kill_a_run(const char *target, bool named)
{
    int ends[2], result;
    char ready;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        kn_output *output;
        if ((named ? kn_output_open_named : kn_output_open)(&output, target, NULL) != KN_OK) _exit(1);
        if (kn_output_write(output, "half", 4, NULL) != KN_OK || kn_output_flush(output, NULL) != KN_OK) _exit(2);
        if (write(ends[1], "x", 1) != 1) _exit(3);
        for (;;) pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    kill(child, SIGKILL);
    waitpid(child, &result, 0);
    assert_true(WIFSIGNALED(result));
}

static bool has_unnamed_files(void)
{
    int file = open(folder, O_TMPFILE | O_RDWR, 0600);
    if (file >= 0) close(file);
    return file >= 0;
}

static void a_killed_run_leaves_nothing(void **state)
{
    if (!has_unnamed_files()) skip();
    write_file(path_of("killed.csv"), TEXT("old"));
    kill_a_run(path_of("killed.csv"), false);
    assert_int_equal(n_hidden(), 0);
    assert_file_holds(path_of("killed.csv"), "old");
}

static void what_a_killed_run_leaves_is_removed_by_the_next(void **state)
{
    kn_output *output, *running;
    write_file(path_of("killed.csv"), TEXT("old"));
    assert_ok(kn_output_open_named(&running, path_of("other.csv"), err));
    for (int i = 0; i < 3; i++) kill_a_run(path_of("killed.csv"), true);
    assert_int_equal(n_hidden(), 2); /* each run removed what the one before had left */
    write_file(path_of(".kanon-policy"), TEXT("mine"));
    write_file(path_of(".kanon-00000000.tmp~"), TEXT("mine"));
    assert_int_equal(symlink("killed.csv", path_of(".kanon-00000000.tmp")), 0);
    assert_ok(kn_output_open(&output, path_of("killed.csv"), err));
    assert_int_equal(n_hidden(), 4); /* the user's three, and that of the run that lives */
    kn_output_discard(output);
    assert_ok(kn_outputs_commit(&running, 1, NULL, err));
    kn_output_discard(running);
    assert_file_holds(path_of("other.csv"), "");
    assert_int_equal(n_hidden(), 3);
    unlink(path_of(".kanon-policy"));
    unlink(path_of(".kanon-00000000.tmp~"));
    unlink(path_of(".kanon-00000000.tmp"));
}

static void a_hidden_file_is_closed_to_others(void **state)
{
    kn_output *output;
    mode_t old_mask = umask(0);
    assert_ok(kn_output_open_named(&output, path_of("named.csv"), err));
    assert_ok(kn_output_write(output, "new", 3, err));
    assert_ok(kn_output_flush(output, err));
    assert_int_equal(mode_of(kn_output_path(output)), 0600);
    assert_file_holds(kn_output_path(output), "new");
    assert_ok(kn_outputs_commit(&output, 1, NULL, err));
    kn_output_discard(output);
    umask(old_mask);
    assert_int_equal(mode_of(path_of("named.csv")), 0666);
    assert_file_holds(path_of("named.csv"), "new");
    assert_int_equal(n_hidden(), 0);
}

static void every_allocation_of_an_output_may_fail(void **state)
{
    size_t before = kn_memory_used();
    write_file(path_of("failing.csv"), TEXT("old"));
    for (size_t n_th = 1;; n_th++) {
        kn_output *output = NULL;
        kn_memory_fail_at(n_th);
        kn_status status = kn_output_open(&output, path_of("failing.csv"), NULL);
        if (status == KN_OK) status = kn_outputs_commit(&output, 1, NULL, NULL);
        bool over = kn_memory_allocations() < n_th;
        kn_memory_fail_at(0);
        kn_output_discard(output);
        assert_int_equal(kn_memory_used(), before);
        assert_int_equal(n_hidden(), 0);
        assert_file_holds(path_of("failing.csv"), over ? "" : "old");
        if (over) break;
        assert_true(status == KN_RESOURCES || status == KN_INPUT);
    }
}

/* --- Pipes -------------------------------------------------------------------------------------------------------- */

typedef struct pipe_reader {
    const char *paths[2];
    char bytes[2][64];
    pthread_t thread;
} pipe_reader;

static void *read_pipes(void *argument)
{
    pipe_reader *reader = argument;
    for (int i = 0; i < 2 && reader->paths[i] != NULL; i++) {
        usleep(100000); /* later than the writer */
        int file = open(reader->paths[i], O_RDONLY);
        size_t n = 0;
        for (ssize_t got; (got = read(file, reader->bytes[i] + n, sizeof reader->bytes[i] - 1 - n)) > 0;)
            n += (size_t)got;
        close(file);
    }
    return NULL;
}

static void pipes_are_written_in_the_order_of_their_readers(void **state)
{
    assert_int_equal(mkfifo(path_of("one"), 0600), 0);
    assert_int_equal(mkfifo(path_of("two"), 0600), 0);
    kn_output *outputs[] = {open_with(path_of("one"), "for the second reader"),
                            open_with(path_of("two"), "for the first")};
    pipe_reader reader = {.paths = {path_of("two"), path_of("one")}};
    assert_int_equal(pthread_create(&reader.thread, NULL, read_pipes, &reader), 0);
    assert_ok(kn_outputs_commit(outputs, 2, NULL, err));
    discard_all(outputs, 2);
    pthread_join(reader.thread, NULL);
    assert_string_equal(reader.bytes[0], "for the first");
    assert_string_equal(reader.bytes[1], "for the second reader");
}

static void waiting_for_a_reader_can_be_cancelled(void **state)
{
    volatile int cancel = 0;
    kn_ticker ticker = {.cancel = &cancel};
    kn_error err = {0};
    assert_int_equal(mkfifo(path_of("unread"), 0600), 0);
    write_file(path_of("beside.csv"), TEXT("old"));
    kn_output *outputs[] = {open_with(path_of("unread"), "x"), open_with(path_of("beside.csv"), "new")};
    cancel = 1;
    assert_int_equal(kn_outputs_commit(outputs, 2, &ticker, &err), KN_INTERRUPTED);
    discard_all(outputs, 2);
    assert_file_holds(path_of("beside.csv"), "old");
}

static void the_shells_descriptors_are_written_to_and_not_replaced(void **state)
{
    char name[32];
    const char *path = path_of("appended.csv");
    write_file(path, TEXT("old "));
    int file = open(path, O_WRONLY | O_APPEND);
    snprintf(name, sizeof name, "/dev/fd/%d", file);
    kn_output *output = open_with(name, "new");
    assert_ok(kn_outputs_commit(&output, 1, NULL, err));
    kn_output_discard(output);
    close(file);
    assert_file_holds(path, "old new");
}

/* Neither its own files nor copies of the shell's; also where standard input is closed and one of them is number 0. */
static void no_descriptor_stays_open(void **state)
{
    int input = dup(STDIN_FILENO), own = open(path_of("descriptor.csv"), O_WRONLY | O_CREAT, 0600);
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", own);
    const char *const targets[] = {path_of("closed.csv"), name};
    close(STDIN_FILENO);
    for (int i = 0; i < 2; i++) {
        const int before = dup(own);
        close(before);
        kn_output *output = open_with(targets[i], "new");
        assert_ok(kn_outputs_commit(&output, 1, NULL, err));
        kn_output_discard(output);
        const int after = dup(own);
        close(after);
        assert_int_equal(after, before); /* the lowest that is free */
        const int next[] = {dup(own), dup(own), dup(own)};
        for (int j = 0; j < 3; j++) close(next[j]);
        assert_int_equal(next[2], own + 2); /* the free one below it is 0 only */
    }
    close(own);
    dup2(input, STDIN_FILENO);
    close(input);
}

/* A name without a folder, of a file that does not exist (another one has a full path at once): the hidden file stands
 * in the current one, where it can be renamed from. */
static void a_hidden_file_stands_beside_its_target(void **state)
{
    char here[4096];
    kn_output *output;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    assert_ok(kn_output_open_named(&output, "not here yet.csv", err));
    assert_int_equal(n_hidden(), 1);
    kn_output_discard(output);
    assert_int_equal(n_hidden(), 0);
    assert_ok(kn_output_open(&output, "not here yet.csv", err));
    assert_int_equal(n_hidden(), has_unnamed_files() ? 0 : 1);
    kn_output_discard(output);
    assert_int_equal(chdir(here), 0);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_appears_whole_or_not_at_all),
        cmocka_unit_test(a_replaced_file_stays_as_closed_as_it_was),
        cmocka_unit_test(large_writes_arrive),
        cmocka_unit_test(a_link_stays_and_its_file_is_replaced),
        cmocka_unit_test(devices_are_written_to_and_stay_devices),
        cmocka_unit_test(what_cannot_be_written_is_refused_at_once),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(stdout_is_spooled_until_commit),
        cmocka_unit_test(a_failure_half_way_tells_what_was_replaced),
        cmocka_unit_test(no_output_is_replaced_when_one_does_not_fit),
        cmocka_unit_test(a_stream_that_fails_keeps_the_files),
        cmocka_unit_test(a_killed_run_leaves_nothing),
        cmocka_unit_test(what_a_killed_run_leaves_is_removed_by_the_next),
        cmocka_unit_test(a_hidden_file_is_closed_to_others),
        cmocka_unit_test(every_allocation_of_an_output_may_fail),
        cmocka_unit_test(pipes_are_written_in_the_order_of_their_readers),
        cmocka_unit_test(waiting_for_a_reader_can_be_cancelled),
        cmocka_unit_test(the_shells_descriptors_are_written_to_and_not_replaced),
        cmocka_unit_test(no_descriptor_stays_open),
        cmocka_unit_test(a_hidden_file_stands_beside_its_target),
    };
    return cmocka_run_group_tests_name("sink", tests, make_folder, remove_folder);
}
