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
package org.sparkrdma.verbs.contract;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * The engine that a contract test runs over.
 *
 * @param name as in {@link org.sparkrdma.verbs.spi.VerbsProvider#name()}
 * @param settings for loading it
 * @param address on which its device listens
 * @param addressV6 on which it listens as well; null when it has no such address
 * @param mappedPath what the mappings of its memory are named after in /proc/self/maps
 * @param slowReads settings with which the first READ of a device takes a second; empty when the
 *     engine has none
 * @param shorter how many times shorter long tests are; 1 where a system call costs little
 * @param deviations where it differs
 */
public record EngineUnderTest(
    String name,
    Map<String, String> settings,
    InetAddress address,
    InetAddress addressV6,
    Path mappedPath,
    Map<String, String> slowReads,
    int shorter,
    Set<Deviation> deviations) {
  /** Whether the engine differs so. */
  public boolean deviates(Deviation deviation) {
    return deviations.contains(deviation);
  }
}
