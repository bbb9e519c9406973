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

import java.util.ArrayList;
import java.util.List;

/**
 * Endpoints and messages as lists of the JDK's types: Spark's RPC reads a message with the class
 * loader of the executor itself, which does not know a jar given by {@code --jars}, and closes the
 * connection to the driver over a class it cannot find. Stateless.
 */
final class EndpointCodec {
  private static final int MAX_NAME_CHARS = 255;
  private static final int MAX_PORT = 65_535;

  private EndpointCodec() {}

  static List<Object> encode(Endpoint endpoint) {
    return new ArrayList<>(
        List.of(
            endpoint.executorId(),
            endpoint.host(),
            endpoint.port(),
            endpoint.engine(),
            endpoint.protocol(),
            endpoint.incarnation(),
            endpoint.token()));
  }

  /**
   * @throws IllegalArgumentException when it is no endpoint, or a field is out of range
   */
  static Endpoint decode(Object encoded) {
    List<?> fields = list(encoded, 7);
    Endpoint endpoint =
        new Endpoint(
            name(fields.get(0)),
            name(fields.get(1)),
            as(Integer.class, fields.get(2)),
            name(fields.get(3)),
            as(Integer.class, fields.get(4)),
            as(Long.class, fields.get(5)),
            as(byte[].class, fields.get(6)));
    if (endpoint.port() < 1 || endpoint.port() > MAX_PORT || endpoint.protocol() < 0) {
      throw new IllegalArgumentException("bad endpoint: " + endpoint);
    }
    if (endpoint.token().length != Endpoint.TOKEN_BYTES) {
      throw new IllegalArgumentException("bad endpoint: tokenBytes=" + endpoint.token().length);
    }
    return endpoint;
  }

  /** A list of exactly {@code size} elements. */
  static List<?> list(Object encoded, int size) {
    List<?> list = as(List.class, encoded);
    if (list.size() != size) {
      throw new IllegalArgumentException("bad message: size=" + list.size() + " wanted=" + size);
    }
    return list;
  }

  static <T> T as(Class<T> type, Object value) {
    if (!type.isInstance(value)) {
      throw new IllegalArgumentException("bad message: wanted=" + type.getSimpleName());
    }
    return type.cast(value);
  }

  /** A name that is neither empty nor absurdly long. */
  static String name(Object value) {
    String name = as(String.class, value);
    if (name.isEmpty() || name.length() > MAX_NAME_CHARS) {
      throw new IllegalArgumentException("bad message: nameChars=" + name.length());
    }
    return name;
  }
}
