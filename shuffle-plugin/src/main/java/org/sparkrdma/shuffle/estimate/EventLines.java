// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The lines of an event log, of any length, one after the other: the stream ends with each line.
 * Only the beginning of a line is held, which has the event's name. Reading ends where the log is
 * cut off or damaged, without an exception. The caller closes the stream below.
 */
@SuppressWarnings("InputStreamSlowMultibyteRead") // read() takes from a buffer without a lock
final class EventLines extends InputStream {
  private static final int BEGINNING_BYTES = 256;
  private static final Pattern BEGINNING =
      Pattern.compile("[ \t]*\\{[ \t]*\"Event\"[ \t]*:[ \t]*\"([^\"]*)\".*", Pattern.DOTALL);

  private final InputStream in;
  private final LongConsumer progress;
  private final byte[] buffer = new byte[1 << 16];
  private int position;
  private int limit;
  private int count;
  private boolean lineEnded = true;
  private int lastByte = '\n';
  private String failure = "";

  /**
   * @param progress takes the number of bytes after each part
   */
  EventLines(InputStream in, LongConsumer progress) {
    this.in = in;
    this.progress = progress;
  }

  /** Goes to the next line. Its event's name, "" if it is no event; null at the end. */
  String next() {
    while (read() >= 0) {
      // The rest of a line that nobody has read.
    }
    lineEnded = false;
    while (limit - position < BEGINNING_BYTES && fill()) {
      // A codec may give less at a time.
    }
    if (position == limit) {
      return null;
    }
    int length = Math.min(BEGINNING_BYTES, limit - position);
    Matcher beginning =
        BEGINNING.matcher(new String(buffer, position, length, StandardCharsets.UTF_8));
    return beginning.matches() ? beginning.group(1) : "";
  }

  /** The next byte of the line; -1 at its end. */
  @Override
  public int read() {
    if (lineEnded || (position == limit && !fill())) {
      return -1;
    }
    lastByte = buffer[position++];
    lineEnded = lastByte == '\n';
    return lineEnded ? -1 : Byte.toUnsignedInt((byte) lastByte);
  }

  /** At the end, why the log is not whole; "" if it may be. */
  String failure() {
    boolean whole = lastByte == '\n' || lastByte == '}';
    return failure.isEmpty() && !whole ? "it ends within a line" : failure;
  }

  /** Reads more behind what the buffer has, for which it makes room. */
  private boolean fill() {
    System.arraycopy(buffer, position, buffer, 0, limit - position);
    limit -= position;
    position = 0;
    try {
      // What a codec has ready: asked for more, it loses that with the error of the next block.
      int ready = failure.isEmpty() ? in.available() : 0;
      // A stream that never says what is ready gives one byte, and then all.
      int most =
          Math.min(buffer.length - limit, ready > 0 ? ready : count == 1 ? buffer.length : 1);
      count = failure.isEmpty() ? in.read(buffer, limit, most) : -1;
      limit += Math.max(0, count);
      progress.accept(count);
      return count >= 0;
    } catch (IOException | RuntimeException e) {
      // Of a codec, whose frame is open or damaged, or of the file system.
      failure = Estimate.firstLine(e);
      return false;
    }
  }
}
