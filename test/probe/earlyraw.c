/*
 * earlyraw.c - changes its terminal's settings with its first instruction
 *
 * Says "set", waits for a byte (whoever sends it has seen the word, so coop has finished whatever it
 * does at the start), and tells whether the settings are still its own.
 */
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

int main(void)
{
    struct termios settings;
    char byte;

    if (tcgetattr(0, &settings) < 0)
        return 1;
    settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    settings.c_cc[VMIN] = 1;
    if (tcsetattr(0, TCSANOW, &settings) < 0 || write(1, "set\n", 4) != 4 || read(0, &byte, 1) != 1)
        return 1;
    if (tcgetattr(0, &settings) < 0)
        return 1;
    puts(settings.c_lflag & (ICANON | ECHO) ? "lost" : "kept");
    return 0;
}
