# Writes down what is built from what, for `numapredict --version`. A script, run at every build rather than when CMake
# configures, since commits come in between:
#     cmake -D ROOT=<source tree> -D COMPILER=<name and version> -D RECORD=<file to write> -P provenance.cmake
# A checkout's commit is git's answer, with -dirty after it where tracked files differ. A source distribution carries it
# in native/commit.txt (-D COMMIT_FILE=<file> writes that one). Where neither says it, it is "unknown": a folder that
# only lies inside somebody's repository, a repository that git will not read, a checkout without git.
cmake_minimum_required(VERSION 3.18)

set(commit "")
if(EXISTS "${ROOT}/.git")
    find_package(Git QUIET)
    if(GIT_FOUND)
        execute_process(
            COMMAND "${GIT_EXECUTABLE}" -C "${ROOT}" describe --always --abbrev=40 --exclude=* --dirty
            OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
elseif(EXISTS "${ROOT}/native/commit.txt")
    file(STRINGS "${ROOT}/native/commit.txt" commit LIMIT_COUNT 1)
endif()
string(REGEX REPLACE "-dirty$" "" name "${commit}")
string(LENGTH "${name}" length) # CMake's expressions cannot count to 40
if(NOT "${commit}" MATCHES "^[0-9a-f]+(-dirty)?$" OR length LESS 40)
    set(commit "unknown")
endif()

if(COMMIT_FILE)
    file(WRITE "${COMMIT_FILE}" "${commit}\n")
endif()
if(RECORD)
    file(WRITE "${RECORD}" "{\"commit\": \"${commit}\", \"compiler\": \"${COMPILER}\"}\n")
endif()
