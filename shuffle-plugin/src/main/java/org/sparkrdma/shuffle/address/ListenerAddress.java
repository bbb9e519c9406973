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
package org.sparkrdma.shuffle.address;

/**
 * Address of a listener, as the directory tells it to peers. Immutable.
 *
 * @param network address and prefix length of its subnet
 * @param port of the listener, 1 to 65535
 */
public record ListenerAddress(NetworkAddress network, int port) {
  private static final int MAX_PORT = 65_535;

  /**
   * @throws IllegalArgumentException when no peer could connect there
   */
  public ListenerAddress {
    if (port < 1
        || port > MAX_PORT
        || network.address().isAnyLocalAddress()
        || network.address().isMulticastAddress()) {
      throw new IllegalArgumentException("bad listener address: " + network + " port=" + port);
    }
  }

  @Override
  public String toString() {
    return network + ":" + port;
  }
}
