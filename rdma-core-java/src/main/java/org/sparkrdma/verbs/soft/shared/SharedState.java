// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * The state of a device that other processes see: its directory, its table, and the numbers of its
 * regions, queue pairs and files. Safe for any thread. Closed by the device, last of all.
 */
public record SharedState(
    HostIdentity host,
    ProcessIdentity self,
    SharedDirectory directory,
    SharedTable table,
    FileLinks links,
    KeyAllocator regionKeys,
    KeyAllocator queuePairNumbers,
    AddressSpace addresses)
    implements AutoCloseable {

  /** Creates a directory below the base directory, and a table in it. */
  public static SharedState create(Path base, HostIdentity host) throws IOException {
    ProcessIdentity self = ProcessIdentity.self();
    SharedDirectory directory = SharedDirectory.create(base, host, self);
    var random = new SecureRandom();
    byte[] secret = new byte[SharedTable.SECRET_BYTES];
    random.nextBytes(secret);
    try {
      return new SharedState(
          host,
          self,
          directory,
          SharedTable.create(directory.path().resolve(SharedDirectory.TABLE), secret),
          new FileLinks(directory, host),
          KeyAllocator.ofRegions(random.nextLong()),
          KeyAllocator.ofQueuePairs(),
          new AddressSpace());
    } catch (IOException | RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  @Override
  public void close() {
    links.close();
    directory.close();
  }
}
