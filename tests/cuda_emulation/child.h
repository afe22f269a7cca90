// A fault runs in a child process, which it ends.
#pragma once

#include <functional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

struct Ended {
    /// What it wrote to standard error.
    std::string said;
    /// Its exit status; 0 too if it ended without a fault.
    int status;
};

static inline Ended run_in_child(const std::function<void()>& run) {
    int ends[2];
    if (pipe(ends) != 0)
        std::abort();
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        run();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char part[512];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
        said.append(part, static_cast<size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return {said, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}
