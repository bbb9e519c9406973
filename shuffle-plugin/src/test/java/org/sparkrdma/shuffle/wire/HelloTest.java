// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HelloTest {
  private static final int ROUNDS = 20_000;
  private final Random random = new Random(8);
  private static final byte[] NONCE = new byte[Hello.NONCE_BYTES];
  private final byte[] token = bytes(32);
  private final ConnectionBinding binding = new ConnectionBinding(17, address(1), address(2));

  @Test
  void shouldReadARequestAsItWasWritten() {
    for (int i = 0; i < 100; i++) {
      int generation = random.nextInt(0x10000);
      long callee = random.nextLong();
      long caller = random.nextLong();
      Hello written = Hello.request(generation, callee, caller, bytes(16));
      byte[] request = written.encodeRequest(token, binding);
      Hello read = Hello.decode(request);
      assertThat(read.generation()).isEqualTo(generation);
      assertThat(read.calleeIncarnation()).isEqualTo(callee);
      assertThat(read.callerIncarnation()).isEqualTo(caller);
      assertThat(read.encodeRequest(token, binding)).isEqualTo(request);
    }
  }

  @Test
  void shouldAcceptPrivateDataThatTheTransportHasPadded() {
    byte[] padded = Arrays.copyOf(hello().encodeRequest(token, binding), 196);
    assertThat(Hello.decode(padded).calleeIncarnation()).isEqualTo(2);
    assertThat(provesRequest(padded, token)).isTrue();
  }

  @Test
  void shouldProveTheTokenAndTheRole() {
    Hello asked = hello();
    byte[] request = asked.encodeRequest(token, binding);
    byte[] answer = asked.answer(7, bytes(16)).encodeAnswer(token, binding, asked);
    assertThat(provesRequest(request, token)).isTrue();
    assertThat(provesAnswer(answer, asked)).isTrue();
    assertThat(Hello.decode(answer).generation()).isEqualTo(7);
    assertThat(provesAnswer(request, asked)).isFalse();
    assertThat(provesRequest(answer, token)).isFalse();
    assertThat(provesRequest(request, bytes(32))).isFalse();
  }

  @Test
  void shouldRefuseAProofWithAnyFlippedBit() {
    byte[] request = hello().encodeRequest(token, binding);
    // Version and length are checked before.
    for (int bit = 16; bit < Hello.LENGTH_BYTES * 8; bit++) {
      byte[] flipped = request.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(provesRequest(flipped, token)).as("bit %d", bit).isFalse();
    }
  }

  @Test
  void shouldRefuseAProofOfAnotherConnection() throws Exception {
    byte[] request = hello().encodeRequest(token, binding);
    InetAddress other = InetAddress.getByName("10.0.0.3");
    List<ConnectionBinding> others =
        List.of(
            new ConnectionBinding(18, binding.source(), binding.destination()),
            new ConnectionBinding(17, other, binding.destination()),
            new ConnectionBinding(17, binding.source(), other),
            new ConnectionBinding(17, binding.destination(), binding.source()),
            new ConnectionBinding(17, InetAddress.getByName("2001:db8::1"), binding.destination()),
            new ConnectionBinding(17, binding.source(), binding.destination(), true));
    for (ConnectionBinding elsewhere : others) {
      assertThat(Hello.decode(request).isProvenRequest(request, token, elsewhere)).isFalse();
    }
  }

  @Test
  void shouldRefuseAnAnswerToAnotherRequest() {
    Hello request = hello();
    byte[] answer = request.answer(3, bytes(16)).encodeAnswer(token, binding, request);
    assertThat(provesAnswer(answer, request)).isTrue();
    assertThat(provesAnswer(answer, Hello.request(1, 2, 3, bytes(16)))).isFalse();
    assertThat(provesAnswer(answer, Hello.request(2, 2, 3, NONCE))).isFalse();
    assertThat(Hello.decode(answer).answers(request)).isTrue();
    assertThat(Hello.decode(answer).answers(Hello.request(1, 2, 4, NONCE))).isFalse();
    assertThat(Hello.decode(answer).answers(Hello.request(1, 5, 3, NONCE))).isFalse();
  }

  @Test
  void shouldConfirmOneAnswerOnly() {
    Hello request = hello();
    Hello answer = request.answer(3, bytes(16));
    ByteBuffer message = ByteBuffer.allocate(100);
    int length = Confirm.encode(message, token, binding, request, answer);
    message.position(0).limit(length);
    assertThat(Confirm.isProven(message, token, binding, request, answer)).isTrue();
    Hello again = request.answer(3, bytes(16));
    assertThat(Confirm.isProven(message, token, binding, request, again)).isFalse();
    assertThat(Confirm.isProven(message, bytes(32), binding, request, answer)).isFalse();
    message.limit(message.limit() + 1);
    assertThatThrownBy(() -> Confirm.isProven(message, token, binding, request, answer))
        .isInstanceOf(MalformedMessageException.class);
  }

  @Test
  void shouldNameBothVersionsWhenTheyDiffer() {
    byte[] request = hello().encodeRequest(token, binding);
    request[0] = 9;
    assertThatThrownBy(() -> Hello.decode(request))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessageContaining("version=9 own=" + Hello.PROTOCOL);
  }

  @Test
  void shouldRefuseGarbage() {
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] garbage = bytes(random.nextInt(80));
      for (int i = 0; i < 2 && i < garbage.length; i++) {
        if (random.nextBoolean()) {
          garbage[i] = (byte) (i == 0 ? Hello.PROTOCOL : Hello.LENGTH_BYTES);
        }
      }
      try {
        assertThat(provesRequest(garbage, token)).isFalse();
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
    assertThat(Hello.decodeRefusal(hello().encodeRequest(token, binding))).isNull();
  }

  @Test
  void shouldDeriveTheKeyFromTokenAndSecret() {
    byte[] secret = bytes(20);
    byte[] request = hello().encodeRequest(ProofKey.of(token, secret), binding);
    assertThat(provesRequest(request, ProofKey.of(token, secret))).isTrue();
    assertThat(provesRequest(request, ProofKey.of(token, bytes(20)))).isFalse();
    assertThat(provesRequest(request, ProofKey.of(bytes(32), secret))).isFalse();
    assertThat(provesRequest(request, ProofKey.of(token, new byte[0]))).isFalse();
    assertThat(ProofKey.of(token, new byte[0])).isEqualTo(token);
  }

  private static Hello hello() {
    return Hello.request(1, 2, 3, NONCE);
  }

  private boolean provesRequest(byte[] privateData, byte[] key) {
    return Hello.decode(privateData).isProvenRequest(privateData, key, binding);
  }

  private boolean provesAnswer(byte[] privateData, Hello request) {
    return Hello.decode(privateData).isProvenAnswer(privateData, token, binding, request);
  }

  private static InetAddress address(int last) {
    try {
      return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) last});
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
