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
package org.sparkrdma.guest.cluster;

import java.nio.file.Path;

/** Where {@link VanillaSpark} leaves what, in its directory. */
final class Answers {
  private Answers() {}

  /** A directory: what is to be sorted. */
  static Path input(Path directory) {
    return directory.resolve("input");
  }

  /** A file: what {@link Tera} answers. */
  static Path tera(Path directory) {
    return directory.resolve("answer-tera");
  }

  /** A file: what {@link Blocks} answer. */
  static Path blocks(Path directory) {
    return directory.resolve("answer-blocks");
  }
}
