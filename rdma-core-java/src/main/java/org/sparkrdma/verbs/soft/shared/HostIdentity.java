// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Attributes that two processes must have in common to be peers: the boot of the kernel, the
 * namespaces of processes and files, and the user.
 *
 * @param bootId of the running kernel, see random(4)
 * @param pidNamespace see pid_namespaces(7)
 * @param mountNamespace see mount_namespaces(7)
 * @param userId effective user
 */
public record HostIdentity(UUID bootId, long pidNamespace, long mountNamespace, int userId) {
  /** The identity of this process. */
  public static HostIdentity self() throws IOException {
    return new HostIdentity(
        UUID.fromString(
            Files.readString(
                    Path.of("/proc/sys/kernel/random/boot_id"), StandardCharsets.ISO_8859_1)
                .strip()),
        namespace("pid"),
        namespace("mnt"),
        (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
  }

  private static long namespace(String kind) throws IOException {
    String link = Files.readSymbolicLink(Path.of("/proc/self/ns", kind)).toString();
    return Long.parseLong(link.substring(link.indexOf('[') + 1, link.indexOf(']')));
  }
}
