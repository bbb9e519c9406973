// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A process of this host; the start time distinguishes it from a later one with the same number.
 *
 * @param pid its number
 * @param startTicks field 22 of /proc/pid/stat, see proc(5), its lower 32 bits
 */
public record ProcessIdentity(int pid, int startTicks) {
  private static final int STATE_FIELD = 0;
  private static final int START_FIELD = 19;

  /** This process. */
  public static ProcessIdentity self() throws IOException {
    int pid = Math.toIntExact(ProcessHandle.current().pid());
    return new ProcessIdentity(pid, startTicks(stat(pid)));
  }

  /** Packs it into one word; never 0. */
  long toWord() {
    return ((long) pid << 32) | (startTicks & 0xffff_ffffL);
  }

  public static ProcessIdentity ofWord(long word) {
    return new ProcessIdentity((int) (word >>> 32), (int) word);
  }

  /**
   * Whether this process still runs; a zombie does not. Also true where that cannot be found out,
   * as without a free file descriptor: memory and files of a process that runs must stay.
   */
  public boolean isAlive() {
    try {
      String[] stat = stat(pid);
      return startTicks(stat) == startTicks && "ZX".indexOf(stat[STATE_FIELD].charAt(0)) < 0;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException | IndexOutOfBoundsException | NumberFormatException e) {
      return true;
    }
  }

  /** The fields after the command name, which may contain blanks and brackets. */
  private static String[] stat(int pid) throws IOException {
    byte[] bytes = Files.readAllBytes(Path.of("/proc", Integer.toString(pid), "stat"));
    String line = new String(bytes, StandardCharsets.ISO_8859_1);
    return line.substring(line.lastIndexOf(')') + 2).split(" ");
  }

  private static int startTicks(String[] stat) {
    return (int) Long.parseLong(stat[START_FIELD]);
  }
}
