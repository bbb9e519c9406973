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

/**
 * One entry of a port's GID table.
 *
 * @param index its index in the table
 * @param type its kind
 * @param address the 16 bytes as an IP address (an IPv4-mapped one as IPv4); not null
 */
public record Gid(int index, GidType type, InetAddress address) {}
