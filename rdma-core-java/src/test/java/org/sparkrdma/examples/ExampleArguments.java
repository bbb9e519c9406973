// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.examples;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * The arguments that all examples have: {@code server ENGINE HOST:PORT} or {@code client ENGINE
 * HOST:PORT}, then those of the example.
 *
 * @param server whether this end listens
 * @param engine name of the verbs engine, or {@code auto}
 * @param address where the server listens
 * @param own the arguments of the example itself
 */
record ExampleArguments(
    boolean server, String engine, InetSocketAddress address, List<String> own) {
  private static final int COMMON = 3;

  /**
   * @param names of the example's own arguments, for each end
   * @throws IllegalArgumentException with the usage
   */
  static ExampleArguments parse(String[] arguments, String serverNames, String clientNames) {
    boolean server = arguments.length > 0 && arguments[0].equals("server");
    boolean client = arguments.length > 0 && arguments[0].equals("client");
    String names = server ? serverNames : clientNames;
    int expected = COMMON + (names.isEmpty() ? 0 : names.split(" ", -1).length);
    int colon = arguments.length < COMMON ? -1 : arguments[2].lastIndexOf(':');
    if (!(server || client) || arguments.length != expected || colon < 0) {
      throw new IllegalArgumentException(
          "arguments: server ENGINE HOST:PORT %s| client ENGINE HOST:PORT %s"
              .formatted(serverNames.isEmpty() ? "" : serverNames + " ", clientNames)
              .strip());
    }
    String host = arguments[2].substring(0, colon);
    int port = Integer.parseInt(arguments[2].substring(colon + 1));
    return new ExampleArguments(
        server,
        arguments[1],
        new InetSocketAddress(host, port),
        List.of(arguments).subList(COMMON, expected));
  }
}
