// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.xerial.snappy.SnappyInputStream;
import org.xerial.snappy.SnappyOutputStream;

class EventLinesTest {
  private static List<String> names(EventLines lines) {
    List<String> names = new ArrayList<>();
    for (String name = lines.next(); name != null; name = lines.next()) {
      names.add(name);
    }
    return names;
  }

  private static EventLines lines(InputStream in) {
    return new EventLines(in, bytes -> {});
  }

  private static InputStream of(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void shouldNameTheEventOfEachLineByItsBeginning() {
    EventLines lines =
        lines(
            of("{\"Event\":\"A\",\"x\":1}\n\n { \"Event\" : \"b.C\" }\nnoise\n{\"Event\":\"D\"}"));
    assertThat(names(lines)).containsExactly("A", "", "b.C", "", "D");
    assertThat(lines.failure()).isEmpty();
  }

  /** Lines longer than the buffer, read as a whole, in part or not at all. */
  @Test
  void shouldReadLinesOfAnyLength() throws IOException {
    Random random = new Random(7);
    StringBuilder text = new StringBuilder();
    List<String> wanted = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      String line = "{\"Event\":\"E" + i + "\",\"" + "y".repeat(random.nextInt(200_000)) + "\"}";
      wanted.add(line);
      text.append(line).append('\n');
    }
    EventLines lines = lines(of(text.toString()));
    for (int i = 0; i < wanted.size(); i++) {
      assertThat(lines.next()).isEqualTo("E" + i);
      int part = random.nextInt(3);
      if (part == 0) {
        String read = new String(lines.readAllBytes(), StandardCharsets.UTF_8);
        assertThat(read.equals(wanted.get(i))).as("line " + i).isTrue();
      } else if (part == 1) {
        assertThat(lines.readNBytes(100)).hasSizeLessThanOrEqualTo(100);
      }
    }
    assertThat(lines.next()).isNull();
  }

  /** A plan of 300 MB, of which no part is held. */
  @Test
  void shouldPassOverALineThatNoMemoryCouldHold() {
    byte[] begin = "{\"Event\":\"Plan\",\"plan\":\"".getBytes(StandardCharsets.UTF_8);
    byte[] end = "\"}\n{\"Event\":\"Next\"}\n".getBytes(StandardCharsets.UTF_8);
    long middle = 300_000_000L;
    InputStream in =
        new InputStream() {
          private long position;

          @Override
          public int read() {
            throw new UnsupportedOperationException();
          }

          @Override
          public int read(byte[] to, int offset, int length) {
            long at = position;
            if (at < begin.length) {
              return copy(begin, (int) at, to, offset, length);
            }
            at -= begin.length;
            if (at < middle) {
              int count = (int) Math.min(length, middle - at);
              Arrays.fill(to, offset, offset + count, (byte) 'p');
              position += count;
              return count;
            }
            at -= middle;
            return at < end.length ? copy(end, (int) at, to, offset, length) : -1;
          }

          private int copy(byte[] from, int at, byte[] to, int offset, int length) {
            int count = Math.min(length, from.length - at);
            System.arraycopy(from, at, to, offset, count);
            position += count;
            return count;
          }
        };
    assertThat(names(lines(in))).containsExactly("Plan", "Next");
  }

  /** Snappy's stream fails with the next block even where it has copied the one before. */
  @Test
  void shouldReadEachWholeLineOfALogThatEndsWithinABlock() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    int whole;
    try (SnappyOutputStream out = new SnappyOutputStream(file)) {
      for (int i = 0; i < 1_000; i++) {
        out.write(("{\"Event\":\"E" + i + "\",\"x\":" + i * 7919 + "}\n").getBytes(US_ASCII));
      }
      out.flush();
      whole = file.size();
      out.write("{\"Event\":\"Lost\"}\n".getBytes(US_ASCII));
    }
    for (int cut : new int[] {whole + 1, whole + 6, file.size() - 1}) {
      byte[] log = Arrays.copyOf(file.toByteArray(), cut);
      EventLines lines = lines(new SnappyInputStream(new ByteArrayInputStream(log)));
      assertThat(names(lines)).as("cut at %d of %d", cut, file.size()).hasSize(1_000);
    }
  }

  @Test
  void shouldEndWithWhatWasReadBeforeAFailure() {
    InputStream broken =
        new InputStream() {
          private boolean done;

          @Override
          public int read() {
            throw new UnsupportedOperationException();
          }

          @Override
          public int read(byte[] to, int offset, int length) throws IOException {
            if (done) {
              throw new IOException("Truncated source\n\tat the.stack.of.a.Server");
            }
            done = true;
            byte[] text =
                "{\"Event\":\"A\"}\n{\"Event\":\"B\",\"x".getBytes(StandardCharsets.UTF_8);
            System.arraycopy(text, 0, to, offset, text.length);
            return text.length;
          }
        };
    EventLines lines = lines(broken);
    assertThat(names(lines)).containsExactly("A", "B");
    assertThat(lines.failure()).isEqualTo("Truncated source");
  }
}
