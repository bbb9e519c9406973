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
package org.sparkrdma.shuffle.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import net.jqwik.api.lifecycle.AfterContainer;
import org.sparkrdma.fuzz.DecoderGuard;

/** Endpoints come back as they were written; a field of another kind is refused. */
class EndpointCodecPropertyTest {
  private static final DecoderGuard GUARD =
      new DecoderGuard("directory.properties", IllegalArgumentException.class);

  @Property(seed = "1")
  void shouldReadAnEndpointAsItWasWritten(
      @ForAll @StringLength(min = 1, max = 255) String name,
      @ForAll @IntRange(min = 1, max = 65_535) int port,
      @ForAll @IntRange(max = Integer.MAX_VALUE) int protocol,
      @ForAll long incarnation,
      @ForAll @Size(Endpoint.TOKEN_BYTES) byte[] token,
      @ForAll @IntRange(max = 6) int field) {
    Endpoint endpoint = new Endpoint(name, name, port, name, protocol, incarnation, token);
    List<Object> encoded = EndpointCodec.encode(endpoint);

    Endpoint read = EndpointCodec.decode(encoded);
    assertThat(read.executorId()).isEqualTo(name);
    assertThat(read.host()).isEqualTo(name);
    assertThat(read.engine()).isEqualTo(name);
    assertThat(read.port()).isEqualTo(port);
    assertThat(read.protocol()).isEqualTo(protocol);
    assertThat(read.incarnation()).isEqualTo(incarnation);
    assertThat(read.token()).isEqualTo(token);

    encoded.set(field, Arrays.asList(name, null));
    assertThat(GUARD.accepts(name.length(), () -> EndpointCodec.decode(encoded))).isFalse();
    encoded.set(field, null);
    assertThat(GUARD.accepts(name.length(), () -> EndpointCodec.decode(encoded))).isFalse();
    encoded.remove(field);
    assertThat(GUARD.accepts(name.length(), () -> EndpointCodec.decode(encoded))).isFalse();
  }

  @AfterContainer
  static void report() throws IOException {
    GUARD.report();
  }
}
