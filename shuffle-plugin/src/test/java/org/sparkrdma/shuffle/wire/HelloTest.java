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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HelloTest {
  private static final int ROUNDS = 20_000;
  private final Random random = new Random(8);
  private final byte[] token = bytes(32);

  @Test
  void shouldReadARequestAsItWasWritten() {
    for (int i = 0; i < 100; i++) {
      int generation = random.nextInt(0x10000);
      long callee = random.nextLong();
      long caller = random.nextLong();
      long sequence = random.nextLong();
      Hello written = Hello.of(generation, callee, caller, sequence, random.nextLong());
      Hello read = Hello.decode(written.encodeRequest(token));
      assertThat(read.generation()).isEqualTo(generation);
      assertThat(read.calleeIncarnation()).isEqualTo(callee);
      assertThat(read.callerIncarnation()).isEqualTo(caller);
      assertThat(read.sequence()).isEqualTo(sequence);
      assertThat(read.answers(written)).isTrue();
    }
  }

  @Test
  void shouldAcceptPrivateDataThatTheTransportHasPadded() {
    byte[] request = hello().encodeRequest(token);
    byte[] padded = Arrays.copyOf(request, 196);
    assertThat(Hello.decode(padded).calleeIncarnation()).isEqualTo(2);
    assertThat(Hello.provesRequest(padded, token)).isTrue();
  }

  @Test
  void shouldProveTheTokenAndTheRole() {
    byte[] request = hello().encodeRequest(token);
    byte[] answer = hello().answer(7).encodeAnswer(token);
    assertThat(Hello.provesRequest(request, token)).isTrue();
    assertThat(Hello.provesAnswer(answer, token)).isTrue();
    assertThat(Hello.decode(answer).generation()).isEqualTo(7);
    assertThat(Hello.provesAnswer(request, token)).isFalse();
    assertThat(Hello.provesRequest(answer, token)).isFalse();
    assertThat(Hello.provesRequest(request, bytes(32))).isFalse();
  }

  @Test
  void shouldProveNothingWhenAnyBitIsFlipped() {
    byte[] request = hello().encodeRequest(token);
    for (int bit = 0; bit < Hello.LENGTH_BYTES * 8; bit++) {
      byte[] flipped = request.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(Hello.provesRequest(flipped, token)).as("bit %d", bit).isFalse();
    }
  }

  @Test
  void shouldNotTakeAnAnswerToAnotherRequest() {
    Hello request = hello();
    assertThat(request.answer(3).answers(request)).isTrue();
    assertThat(Hello.of(1, 2, 4, 8, 9).answers(request)).isFalse();
    assertThat(Hello.of(1, 5, 3, 8, 9).answers(request)).isFalse();
    assertThat(Hello.of(1, 2, 3, 7, 9).answers(request)).isFalse();
    assertThat(Hello.of(1, 2, 3, 8, 7).answers(request)).isFalse();
  }

  @Test
  void shouldNameBothVersionsWhenTheyDiffer() {
    byte[] request = hello().encodeRequest(token);
    request[0] = 9;
    assertThatThrownBy(() -> Hello.decode(request))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("version=9 own=" + Hello.PROTOCOL);
  }

  @Test
  void shouldOnlyRefuseGarbage() {
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] garbage = bytes(random.nextInt(80));
      for (int i = 0; i < 2 && i < garbage.length; i++) {
        if (random.nextBoolean()) {
          garbage[i] = (byte) (i == 0 ? Hello.PROTOCOL : Hello.LENGTH_BYTES);
        }
      }
      try {
        Hello.decode(garbage);
        assertThat(Hello.provesRequest(garbage, token)).isFalse();
      } catch (MalformedMessageException e) {
        refused++;
      }
      Hello.decodeRefusal(garbage);
    }
    assertThat(refused).isBetween(ROUNDS / 2, ROUNDS - 1);
  }

  @Test
  void shouldReadARefusalAsItWasWritten() {
    for (Hello.Refusal refusal : Hello.Refusal.values()) {
      byte[] written = Hello.encodeRefusal(refusal);
      assertThat(Hello.decodeRefusal(written)).isEqualTo(refusal);
      assertThat(Hello.decodeRefusal(Arrays.copyOf(written, 148))).isEqualTo(refusal);
    }
    assertThat(Hello.decodeRefusal(new byte[0])).isNull();
    assertThat(Hello.decodeRefusal(new byte[] {Hello.PROTOCOL, 4, 99, 0})).isNull();
    assertThat(Hello.decodeRefusal(hello().encodeRequest(token))).isNull();
  }

  @Test
  void shouldNeedBothTokenAndSecretForTheKey() {
    byte[] secret = bytes(20);
    byte[] request = hello().encodeRequest(ProofKey.of(token, secret));
    assertThat(Hello.provesRequest(request, ProofKey.of(token, secret))).isTrue();
    assertThat(Hello.provesRequest(request, ProofKey.of(token, bytes(20)))).isFalse();
    assertThat(Hello.provesRequest(request, ProofKey.of(bytes(32), secret))).isFalse();
    assertThat(Hello.provesRequest(request, ProofKey.of(token, new byte[0]))).isFalse();
    assertThat(ProofKey.of(token, new byte[0])).isEqualTo(token);
  }

  private static Hello hello() {
    return Hello.of(1, 2, 3, 8, 9);
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
