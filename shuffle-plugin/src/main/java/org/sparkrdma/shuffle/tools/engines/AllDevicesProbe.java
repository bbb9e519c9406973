// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.engines;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.sparkrdma.shuffle.address.HostAddresses;
import org.sparkrdma.shuffle.address.NetworkAddress;
import org.sparkrdma.shuffle.device.DeviceChoice;
import org.sparkrdma.shuffle.pinned.SystemFiles;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.shuffle.settings.ShuffleSetting;
import org.sparkrdma.shuffle.settings.ShuffleSettings;
import org.sparkrdma.verbs.Verbs;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;

/**
 * Opens each device of the engine in turn, also those that the settings exclude, and looks at each
 * of its active ports. Confined to the calling thread.
 */
public final class AllDevicesProbe {
  private final ShuffleSettings settings;
  private final InetAddress sparkHost;
  private final DeviceTrial trial;
  private final HostAddresses host;

  /**
   * A probe that has not run.
   *
   * @param sparkHost where Spark's own block transfer listens
   */
  public AllDevicesProbe(ShuffleSettings settings, SparkSettings spark, InetAddress sparkHost) {
    this(settings, spark, sparkHost, HostAddresses.ofSystem());
  }

  /**
   * @param host facts about the addresses of this host
   */
  AllDevicesProbe(
      ShuffleSettings settings, SparkSettings spark, InetAddress sparkHost, HostAddresses host) {
    this.settings = settings;
    this.sparkHost = sparkHost;
    this.host = host;
    trial = new DeviceTrial(settings, spark);
  }

  /**
   * Runs once.
   *
   * @param files of this machine
   * @param localDirectories where files are registered as a test
   * @return at least one result for each device; none when no engine has a device
   */
  public List<PortProbe> run(SystemFiles files, List<Path> localDirectories) {
    try (VerbsEngine engine = Verbs.choose(settings.engine(), settings.engineSettings()).engine()) {
      return engine == null ? List.of() : run(engine, files, localDirectories);
    } catch (VerbsException e) {
      // The probe of the chosen device reports the same failure.
      return List.of();
    }
  }

  List<PortProbe> run(VerbsEngine engine, SystemFiles files, List<Path> localDirectories)
      throws VerbsException {
    List<PortProbe> probes = new ArrayList<>();
    for (DeviceInfo device : engine.devices()) {
      Map<Path, Optional<String>> directories = Map.of();
      Optional<String> failure = Optional.empty();
      try {
        directories =
            trial.run(engine, device, trial.limit(device, files), files, localDirectories);
      } catch (VerbsException e) {
        failure = Optional.of(e.getMessage());
      }
      List<PortInfo> active =
          device.ports().stream().filter(port -> port.state() == PortState.ACTIVE).toList();
      if (active.isEmpty()) {
        probes.add(withoutPort(device, failure, directories));
      }
      for (PortInfo port : active) {
        probes.add(probe(device, port, failure, directories));
      }
    }
    return List.copyOf(probes);
  }

  private PortProbe withoutPort(
      DeviceInfo device, Optional<String> failure, Map<Path, Optional<String>> directories) {
    String reason =
        failure.map(text -> text + "; ").orElse("")
            + "all ports are down: "
            + String.join(
                ", ",
                device.ports().stream()
                    .map(port -> "port " + port.number() + " state=" + port.state())
                    .toList());
    return new PortProbe(
        device,
        OptionalInt.empty(),
        List.of(),
        Optional.of(reason),
        directories,
        joined(againstDevice(device, settings.device(sparkHost, 0))));
  }

  private PortProbe probe(
      DeviceInfo device,
      PortInfo port,
      Optional<String> failure,
      Map<Path, Optional<String>> directories) {
    DeviceInfo only =
        new DeviceInfo(
            device.name(),
            device.engine(),
            device.transport(),
            device.nodeGuid(),
            device.limits(),
            device.capabilities(),
            List.of(port));
    DeviceSelector selector = settings.device(sparkHost, 0);
    List<NetworkAddress> addresses = List.of();
    Optional<String> reason = failure;
    try {
      addresses = DeviceChoice.of(List.of(only), selector.ofAnyAddress(), host).addresses();
    } catch (VerbsException e) {
      reason = Optional.of(failure.map(text -> text + "; ").orElse("") + shortened(only, e));
    }
    return new PortProbe(
        device,
        OptionalInt.of(port.number()),
        addresses,
        reason,
        directories,
        exclusion(only, selector, !addresses.isEmpty()));
  }

  /** The reason against the port, without the port's name: the finding begins with it. */
  private static String shortened(DeviceInfo only, VerbsException reason) {
    String name = only.name() + " port " + only.ports().get(0).number() + " ";
    String message = reason.getMessage();
    int at = message.indexOf(name);
    return at < 0 ? message : "it " + message.substring(at + name.length());
  }

  /**
   * The settings that exclude a port.
   *
   * @param hasAddress whether the port has an address that they could allow
   */
  private Optional<String> exclusion(DeviceInfo only, DeviceSelector selector, boolean hasAddress) {
    List<String> settingsAgainst = againstDevice(only, selector);
    int number = only.ports().get(0).number();
    if (selector.port().orElse(number) != number) {
      settingsAgainst.add(ShuffleSetting.DEVICE_PORT.key() + "=" + selector.port().getAsInt());
    }
    if (hasAddress && !allowsAnAddress(only, selector)) {
      selector
          .gid()
          .ifPresent(gid -> settingsAgainst.add(ShuffleSetting.GID_INDEX.key() + "=" + gid));
      selector
          .gidType()
          .ifPresent(type -> settingsAgainst.add(ShuffleSetting.GID_TYPE.key() + "=" + type));
      selector
          .address()
          .ifPresent(text -> settingsAgainst.add(ShuffleSetting.LISTEN_ADDRESS.key() + "=" + text));
    }
    return joined(settingsAgainst);
  }

  private static List<String> againstDevice(DeviceInfo device, DeviceSelector selector) {
    List<String> settingsAgainst = new ArrayList<>();
    if (!selector.devices().isEmpty() && !selector.devices().contains(device.name())) {
      settingsAgainst.add(ShuffleSetting.DEVICE.key() + "=" + String.join(",", selector.devices()));
    }
    return settingsAgainst;
  }

  private static Optional<String> joined(List<String> texts) {
    return texts.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", texts));
  }

  private boolean allowsAnAddress(DeviceInfo only, DeviceSelector selector) {
    try {
      DeviceChoice.of(List.of(only), selector.ofAnyDevice(), host);
      return true;
    } catch (VerbsException e) {
      return false;
    }
  }
}
