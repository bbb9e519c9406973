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
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.channels.FileChannel;

/**
 * Chooses how files are mapped; the multi-release part has another version of this class for Java
 * 22.
 */
public final class Mappings {
  private Mappings() {}

  /** Maps the first {@code lengthBytes} of the file; the mapping closes the channel. */
  public static Mapping of(FileChannel channel, long lengthBytes) throws IOException {
    return new MappedWindows(channel, lengthBytes);
  }
}
