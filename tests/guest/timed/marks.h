/* marks.h: the instructions by which programs in the guest say which process is to pay for its memory.
 *
 * Contract. A mark does nothing on a processor (a long nop of 7 bytes). MARK_ON makes the process pay that
 * executes it, for the errand whose number is in register rbx; MARK_OFF frees all that pay for that errand;
 * MARK_FREE frees the process that executes it, which may have the page table of one that was killed. The
 * plugin knows registers as they are when a block of code begins: hence the system call before a mark.
 */
#ifndef NUMAPREDICT_TIMED_MARKS_H
#define NUMAPREDICT_TIMED_MARKS_H

#define MARK_LONG_NOP 0x0f, 0x1f, 0x80
#define MARK_ON MARK_LONG_NOP, 'n', 'p', 'o', 'n'
#define MARK_OFF MARK_LONG_NOP, 'n', 'p', 'o', 'f'
#define MARK_FREE MARK_LONG_NOP, 'n', 'p', 'f', 'r'
#define MARK_BYTES 7

/* Execute a mark for an errand: "npon", "npof" or "npfr". */
#define EXECUTE_MARK(letters, errand)                                                                        \
    do {                                                                                                     \
        long getpid_number = 39;                                                                             \
        __asm__ volatile("syscall\n\t.byte 0x0f, 0x1f, 0x80\n\t.ascii \"" letters "\""                       \
                         : "+a"(getpid_number)                                                               \
                         : "b"((long)(errand))                                                               \
                         : "rcx", "r11", "memory");                                                          \
    } while (0)

#endif
