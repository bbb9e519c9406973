// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;
import org.sparkrdma.verbs.spi.EngineUnavailableException;

/**
 * The host of a scripted device: system files below a folder of the test, and network interfaces
 * that exist nowhere else. Confined to the test's thread.
 */
public final class ScriptedHost {
  private final Path root;
  private final List<NetworkLinks.Link> links = new ArrayList<>();

  /**
   * @param root an empty folder of the test
   */
  public ScriptedHost(Path root) {
    this.root = root;
  }

  /** Writes the files from which the provider concludes that there is a usable device. */
  public ScriptedHost withDeviceFiles() throws IOException {
    Files.createDirectories(root.resolve("sys/class/infiniband").resolve(ScriptedEngine.DEVICE));
    Files.createDirectories(root.resolve("proc/sys/net/core"));
    Files.createFile(root.resolve("proc/sys/net/core/netdev_max_backlog"));
    Path nodes = Files.createDirectories(root.resolve("dev/infiniband"));
    Files.createFile(nodes.resolve("uverbs0"));
    Files.createFile(nodes.resolve("rdma_cm"));
    return this;
  }

  /**
   * Adds a network interface, with the next number from 1 on.
   *
   * @param hardware its hardware address as in sysfs
   * @param addresses literal IP addresses
   */
  public ScriptedHost withLink(String name, String hardware, String... addresses)
      throws IOException {
    Path folder = Files.createDirectories(classNet().resolve(name));
    Files.writeString(folder.resolve("address"), hardware + "\n");
    List<InetAddress> found = new ArrayList<>();
    for (String address : addresses) {
      found.add(InetAddress.getByName(address));
    }
    links.add(new NetworkLinks.Link(name, links.size() + 1, found));
    return this;
  }

  private Path classNet() {
    return root.resolve("sys/class/net");
  }

  NetworkLinks links() {
    return new NetworkLinks(classNet(), () -> List.copyOf(links), true);
  }

  /** The engine on this host's network interfaces; the caller closes it. */
  public VerbsEngine engine(ScriptedLibrary library) {
    return ScriptedEngine.over(library, links());
  }

  /** Loads the engine as the provider does from this host's files; the caller closes it. */
  public VerbsEngine load(ScriptedLibrary library) throws EngineUnavailableException {
    return IbverbsProvider.load(
        new Machine(root), () -> new Libraries(library.verbs(), library.cm()));
  }
}
