// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.fuzz.DecoderGuard.require;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.fuzz.DecoderGuard;

/**
 * Frames on a socket: the parser finds the same frames whether bytes arrive together or in pieces.
 */
class FrameFuzz {
  private static final DecoderGuard GUARD = new DecoderGuard("soft.Frame", ProtocolException.class);

  static Stream<byte[]> frames() {
    ByteBuffer two = ByteBuffer.allocate(28).order(ByteOrder.LITTLE_ENDIAN);
    two.putInt(Frame.REPLY).putInt(12).putInt(20, Frame.READY);
    byte[] wakeUps = {Frame.WAKE, Frame.READY, 0, 0, 0, 0, 0, 0, 0, Frame.WAKE};
    return Stream.of(two.array(), wakeUps, new byte[Frame.HEADER_BYTES + 1]);
  }

  @MethodSource("frames")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldParseFramesOrRefuseThem(byte[] input) {
    List<String> whole = new ArrayList<>();
    List<String> cut = new ArrayList<>();
    boolean accepted = GUARD.accepts(input.length, () -> parse(input, input.length, whole));
    int pieceBytes = input.length == 0 ? 1 : 1 + (input[input.length - 1] & 0x3f);
    assertThat(isParsed(input, pieceBytes, cut)).isEqualTo(accepted);
    assertThat(cut).isEqualTo(whole);
  }

  private static boolean isParsed(byte[] input, int pieceBytes, List<String> seen) {
    try {
      parse(input, pieceBytes, seen);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static void parse(byte[] input, int pieceBytes, List<String> seen) throws IOException {
    seen.clear();
    int room = input.length + Frame.HEADER_BYTES + Frame.MAX_BODY_BYTES;
    ByteBuffer in = ByteBuffer.allocate(room).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < input.length; at += pieceBytes) {
      in.put(input, at, Math.min(pieceBytes, input.length - at)).flip();
      for (ByteBuffer frame = Frame.next(in); frame != null; frame = Frame.next(in)) {
        require(frame.remaining() <= Frame.MAX_BODY_BYTES, "a body", frame.remaining());
        seen.add(frame.get(0) + " " + frame.remaining());
      }
      require(
          in.remaining() < Frame.HEADER_BYTES + Frame.MAX_BODY_BYTES, "a frame", in.remaining());
      in.compact();
    }
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
