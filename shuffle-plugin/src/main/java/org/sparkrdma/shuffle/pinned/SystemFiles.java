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
package org.sparkrdma.shuffle.pinned;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The system's files; unreadable ones are empty.
 *
 * @param root of the file system; another one in tests
 */
record SystemFiles(Path root) {
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  List<String> lines(String file) {
    return lines(root.resolve(file));
  }

  static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  /** The first number of a line; empty also for one beyond 63 bits. */
  static OptionalLong number(String line) {
    Matcher matcher = NUMBER.matcher(line);
    try {
      return matcher.find()
          ? OptionalLong.of(Long.parseLong(matcher.group()))
          : OptionalLong.empty();
    } catch (NumberFormatException e) {
      return OptionalLong.empty();
    }
  }
}
