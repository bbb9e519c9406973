/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.shuffle.wire;

import static org.sparkrdma.fuzz.DecoderGuard.require;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkrdma.fuzz.DecoderGuard;

/** The private data of requests, answers and refusals. */
class HelloFuzz {
  private static final DecoderGuard GUARD =
      new DecoderGuard("wire.Hello", MalformedMessageException.class);
  private static final byte[] KEY = new byte[32];
  private static final int PROVEN_BYTES = 36;

  static Stream<byte[]> privateData() {
    Hello hello = Hello.of(1, 2, 3, 4, 5);
    return Stream.of(
        hello.encodeRequest(KEY),
        hello.encodeAnswer(KEY),
        Hello.encodeRefusal(Hello.Refusal.BUSY),
        Arrays.copyOf(hello.encodeRequest(KEY), 196));
  }

  @MethodSource("privateData")
  @FuzzTest(maxExecutions = 200_000, maxDuration = "10m")
  void shouldBeAProofOrRefused(byte[] input) {
    GUARD.accepts(input.length, () -> read(input));
  }

  private static void read(byte[] input) {
    Hello.decodeRefusal(input);
    Hello hello = Hello.decode(input);
    byte[] again = hello.encodeRequest(KEY);
    require(Arrays.equals(again, 0, PROVEN_BYTES, input, 0, PROVEN_BYTES), "the same bytes", 0);
    boolean same = Arrays.equals(again, Arrays.copyOf(input, Hello.LENGTH_BYTES));
    require(Hello.provesRequest(input, KEY) == same, "only the one proof", 0);
    require(!same || !Hello.provesAnswer(input, KEY), "no proof of both", 0);
  }

  @AfterAll
  static void report() throws IOException {
    GUARD.report();
  }
}
