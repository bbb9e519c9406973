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
package org.sparkrdma.shuffle.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/**
 * Tries in each directory for map outputs, once, whether its file system lets a file be registered:
 * some cannot pin their pages, see pin_user_pages in the kernel's Documentation/core-api.
 */
final class FileProbe {
  private static final Logger LOGGER = LoggerFactory.getLogger(FileProbe.class);
  private static final int PROBE_BYTES = 4_096;

  private FileProbe() {}

  /** The directories whose files are to be served by copies. */
  static List<Path> refusing(
      ProtectionDomain domain, List<Path> directories, Set<AccessFlag> access) {
    List<Path> refusing = new ArrayList<>();
    for (Path directory : directories) {
      try {
        tryIn(domain, directory, access);
      } catch (VerbsException e) {
        LOGGER.warn(
            "RDMA serves the map outputs in {} by copies: its file system refuses to be registered:"
                + " {}",
            directory,
            e.getMessage());
        refusing.add(directory);
      } catch (IOException e) {
        // Nothing is known then; each file is tried for itself.
        LOGGER.debug("could not try to register a file: directory={}", directory, e);
      }
    }
    return List.copyOf(refusing);
  }

  private static void tryIn(ProtectionDomain domain, Path directory, Set<AccessFlag> access)
      throws IOException, VerbsException {
    Path file = Files.createTempFile(directory, "rdma-probe", ".tmp");
    try {
      Files.write(file, new byte[PROBE_BYTES]);
      domain.registerFile(file, 0, PROBE_BYTES, access).close();
    } finally {
      Files.delete(file);
    }
  }
}
