// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.engine.NetworkLinks;
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

  /**
   * Writes the files from which the provider concludes that there is a usable device, whose port
   * has the GID 127.0.0.1.
   */
  public ScriptedHost withDeviceFiles() throws IOException {
    write("dev/infiniband/uverbs0", "");
    write("dev/infiniband/rdma_cm", "");
    return withGid(HexFormat.of().parseHex("00000000000000000000ffff7f000001"), "");
  }

  /** Names the kernel's driver of the device, as for a card on the PCI bus. */
  ScriptedHost withDriver(String name) throws IOException {
    Path device = root.resolve("sys/class/infiniband/" + ScriptedEngine.DEVICE + "/device");
    Files.createDirectories(device);
    Path driver = Path.of("../../../../bus/pci/drivers", name);
    Files.createSymbolicLink(device.resolve("driver"), driver);
    return this;
  }

  /**
   * Sets the only GID of the device's port.
   *
   * @param bytes all 16
   * @param link name of the network interface that the GID belongs to; empty for none
   */
  public ScriptedHost withGid(byte[] bytes, String link) throws IOException {
    String port = "sys/class/infiniband/" + ScriptedEngine.DEVICE + "/ports/1/";
    write(port + "gids/0", HexFormat.of().formatHex(bytes));
    write(port + "gid_attrs/types/0", "RoCE v2");
    write(port + "gid_attrs/ndevs/0", link);
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
    write("sys/class/net/" + name + "/address", hardware);
    List<InetAddress> found = new ArrayList<>();
    for (String address : addresses) {
      found.add(InetAddress.getByName(address));
    }
    links.add(new NetworkLinks.Link(name, links.size() + 1, found));
    return this;
  }

  private void write(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
  }

  public NetworkLinks links() {
    return new NetworkLinks(root, () -> List.copyOf(links));
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
