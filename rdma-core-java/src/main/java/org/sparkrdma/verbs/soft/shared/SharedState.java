// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.shared;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * The state of a device that other processes see: its directory, its table, and the numbers of its
 * regions, queue pairs and files. Safe for any thread. Closed by the device, last of all.
 */
public final class SharedState implements AutoCloseable {
  private final HostIdentity host;
  private final ProcessIdentity self;
  private final SharedDirectory directory;
  private final SharedTable table;
  private final FileLinks links;
  private final RegionKeys regionKeys;
  private final QueuePairNumbers queuePairNumbers = new QueuePairNumbers();
  private final AddressSpace addresses = new AddressSpace();

  private SharedState(HostIdentity host, ProcessIdentity self, SharedDirectory directory)
      throws IOException {
    this.host = host;
    this.self = self;
    this.directory = directory;
    var random = new SecureRandom();
    byte[] secret = new byte[SharedTable.SECRET_BYTES];
    random.nextBytes(secret);
    table = SharedTable.create(directory.path().resolve(SharedDirectory.TABLE), secret);
    links = new FileLinks(directory, host.userId());
    regionKeys = new RegionKeys(random.nextLong());
  }

  /** Creates a directory below the base directory, and a table in it. */
  public static SharedState create(Path base, HostIdentity host) throws IOException {
    ProcessIdentity self = ProcessIdentity.self();
    SharedDirectory directory = SharedDirectory.create(base, host, self);
    try {
      return new SharedState(host, self, directory);
    } catch (IOException | RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  public HostIdentity host() {
    return host;
  }

  public ProcessIdentity self() {
    return self;
  }

  public SharedDirectory directory() {
    return directory;
  }

  public SharedTable table() {
    return table;
  }

  public FileLinks links() {
    return links;
  }

  public RegionKeys regionKeys() {
    return regionKeys;
  }

  public QueuePairNumbers queuePairNumbers() {
    return queuePairNumbers;
  }

  public AddressSpace addresses() {
    return addresses;
  }

  @Override
  public void close() {
    links.close();
    directory.close();
  }
}
