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
package org.sparkrdma.verbs.device;

import java.net.InetAddress;
import java.util.List;

/**
 * A port of a device, see ibv_query_port(3).
 *
 * @param number counted from 1
 * @param state only {@link PortState#ACTIVE} ports carry data
 * @param activeMtuBytes the path MTU in use
 * @param gids its GID table, without empty entries
 * @param addresses of this host that the connection manager reaches by this port; with RoCE those
 *     in the GID table, with iWARP and InfiniBand those of its network interface
 */
public record PortInfo(
    int number, PortState state, int activeMtuBytes, List<Gid> gids, List<InetAddress> addresses) {
  public PortInfo {
    addresses = List.copyOf(addresses);
    gids = List.copyOf(gids);
  }
}
