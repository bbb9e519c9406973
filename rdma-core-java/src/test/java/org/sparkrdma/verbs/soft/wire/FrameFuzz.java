// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

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
  private static final DecoderGuard GUARD = new DecoderGuard("soft.Link", ProtocolException.class);

  static Stream<byte[]> frames() {
    ByteBuffer two = ByteBuffer.allocate(60).order(ByteOrder.LITTLE_ENDIAN);
    two.put(0, FrameHeader.SEND).putInt(4, 12).putLong(8, 1).putInt(20, 12);
    two.put(36, FrameHeader.ACKNOWLEDGE).putLong(44, 1);
    return Stream.of(two.array(), new byte[FrameHeader.BYTES + 1]);
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
    ByteBuffer in =
        ByteBuffer.allocate(input.length + FrameHeader.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    Recorder recorder = new Recorder(seen);
    FrameParser parser = new FrameParser(recorder);
    for (int at = 0; at < input.length; at += pieceBytes) {
      in.put(input, at, Math.min(pieceBytes, input.length - at)).flip();
      parser.parse(in);
      require(in.remaining() < FrameHeader.BYTES, "a part of a header", in.remaining());
      in.compact();
    }
    require(parser.awaitsHeader() == (recorder.left == 0), "a whole frame", recorder.left);
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }

  /** Records whole frames, and checks that each payload is as long as its header says. */
  private static final class Recorder implements FrameHandler {
    private final List<String> seen;
    private int left;

    Recorder(List<String> seen) {
      this.seen = seen;
    }

    @Override
    public void onFrame(FrameHeader header) {
      require(left == 0, "a frame after a frame", left);
      left = header.length;
      require(left >= 0, "a length", left);
    }

    @Override
    public void onPayload(FrameHeader header, ByteBuffer piece) {
      require(piece.hasRemaining() && piece.remaining() <= left, "a piece of the frame", left);
      left -= piece.remaining();
    }

    @Override
    public void onFrameEnd(FrameHeader header) {
      require(left == 0, "all of a frame", left);
      seen.add(header.type + " " + header.length + " " + header.sequence);
    }

    @Override
    public void onConnected() {}

    @Override
    public void onConnectRefused(String reason) {}

    @Override
    public void onWritable() {}

    @Override
    public void onEnded(String reason) {}
  }
}
