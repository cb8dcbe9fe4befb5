/* Has no transparent huge pages, and runs a command so: it inherits that. usage: declining COMMAND
 * [ARGUMENT]... */
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count < 2 || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
        return 2;
    execvp(arguments[1], arguments + 1);
    return 127;
}
