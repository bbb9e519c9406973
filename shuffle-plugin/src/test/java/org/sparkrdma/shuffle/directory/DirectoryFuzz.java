// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import static org.sparkrdma.fuzz.DecoderGuard.require;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.fuzz.DecoderGuard;

/**
 * Messages of the directory, which arrive as objects through Spark's RPC: here they are built from
 * bytes.
 */
class DirectoryFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("directory.Endpoint", IllegalArgumentException.class);
  private static final int MAX_DEPTH = 5;

  static Stream<byte[]> messages() {
    ExecutorRecord available = DirectoryServiceTest.record("3", -1, 1);
    ByteBuffer changes = ByteBuffer.allocate(12);
    changes.put((byte) 0).put((byte) 2).put((byte) 6).put((byte) 3).putLong(0);
    ByteBuffer report = ByteBuffer.allocate(90);
    report.put((byte) 0).put((byte) 2).put((byte) 10);
    report.put((byte) 0).put((byte) 7).put(text("3")).put(text("state")).put(text("up"));
    report.put(text("stages")).put((byte) 0).put((byte) 1).put((byte) 3).putLong(7);
    report.put(text("findings")).put((byte) 0).put((byte) 1).put(text("note"));
    return Stream.of(
        publishing(available),
        publishing(ExecutorRecord.unavailable("3", List.of("no device", "no port"), -1, 1)),
        changes.array(),
        report.array());
  }

  private static byte[] publishing(ExecutorRecord record) {
    byte[] encoded = RecordCodec.encode(record);
    ByteBuffer publish = ByteBuffer.allocate(5 + encoded.length);
    publish.put((byte) 0).put((byte) 2).put((byte) 5);
    return publish.put((byte) 4).put((byte) encoded.length).put(encoded).array();
  }

  private static byte[] text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    return ByteBuffer.allocate(2 + bytes.length)
        .put((byte) 1)
        .put((byte) bytes.length)
        .put(bytes)
        .array();
  }

  @MethodSource("messages")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldAnswerAMessageOrRefuseIt(byte[] input) {
    Object message = object(ByteBuffer.wrap(input), 0);
    GUARD.accepts(Math.max(input.length, bytesOf(message)), () -> read(message));
  }

  /** A message may be longer than its input. */
  private static int bytesOf(Object message) {
    if (message instanceof String text) {
      return text.length();
    }
    if (message instanceof List<?> list) {
      return list.stream().mapToInt(DirectoryFuzz::bytesOf).sum();
    }
    return message instanceof byte[] bytes ? bytes.length : Long.BYTES;
  }

  private static void read(Object message) {
    DirectoryService service = new DirectoryService("", (executorId, values) -> false);
    if (Boolean.TRUE.equals(service.answer(message))) {
      List<?> changes = (List<?>) service.answer(List.of(DirectoryService.CHANGES, 0L));
      ExecutorRecord decoded = DirectoryServiceTest.records(changes).get(0);
      ExecutorRecord published = RecordCodec.decode((byte[]) ((List<?>) message).get(1));
      require(published.executorId().equals(decoded.executorId()), "the same executor", 0);
      require(published.reasons().equals(decoded.reasons()), "the same reasons", 0);
      require(
          published.endpoint().isPresent() == decoded.endpoint().isPresent(),
          "an endpoint or not",
          0);
      if (decoded.endpoint().isPresent()) {
        sameEndpoint(published.endpoint().get(), decoded.endpoint().get());
      }
    }
  }

  private static void sameEndpoint(Endpoint published, Endpoint decoded) {
    int addresses = decoded.addresses().size();
    require(addresses >= 1 && addresses <= Endpoint.MAX_ADDRESSES, "addresses", addresses);
    int tokenBytes = decoded.token().length;
    require(tokenBytes == Endpoint.TOKEN_BYTES, "a token", tokenBytes);
    require(published.addresses().equals(decoded.addresses()), "the same addresses", addresses);
    require(Arrays.equals(published.token(), decoded.token()), "the same token", 0);
  }

  private static Object object(ByteBuffer in, int depth) {
    return switch (next(in) & 0x0f) {
      case 0 -> depth == MAX_DEPTH ? List.of() : list(in, depth);
      case 1 -> new String(bytes(in), StandardCharsets.ISO_8859_1);
      case 2 -> in.remaining() < Integer.BYTES ? 0 : in.getInt();
      case 3 -> in.remaining() < Long.BYTES ? 0L : in.getLong();
      case 4 -> bytes(in);
      case 5 -> DirectoryService.PUBLISH;
      case 6 -> DirectoryService.CHANGES;
      case 7 -> "x".repeat(next(in) * 3);
      case 8 -> Double.NaN;
      case 9 -> new byte[Endpoint.TOKEN_BYTES];
      case 10 -> DirectoryService.REPORT;
      case 11 -> true;
      case 12 -> false;
      default -> null;
    };
  }

  private static List<Object> list(ByteBuffer in, int depth) {
    int size = next(in) & 0x0f;
    List<Object> list = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      list.add(object(in, depth + 1));
    }
    return list;
  }

  private static byte[] bytes(ByteBuffer in) {
    byte[] bytes = new byte[Math.min(next(in), in.remaining())];
    in.get(bytes);
    return bytes;
  }

  private static int next(ByteBuffer in) {
    return in.hasRemaining() ? in.get() & 0xff : 0;
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
