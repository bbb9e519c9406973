// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.sparkrdma.shuffle.settings.DeviceSelector;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.device.TransportType;

class DeviceTrialsTest {
  private final List<String> tried = new ArrayList<>();
  private final Set<String> sick = new HashSet<>();
  private List<String> listed = List.of();

  @Test
  void shouldNotMoveToASubnetWherePeersDoNotReachThisExecutor() {
    sick.add("a");

    assertThatThrownBy(() -> run("a 10.0.0.5", "b 10.1.0.6"))
        .isInstanceOf(VerbsException.class)
        .hasMessage("a is sick");

    assertThat(tried).containsExactly("a");
  }

  @Test
  void shouldTryOnlyDevicesThatTheSettingsAllow() {
    sick.add("a");
    listed = List.of("a");

    assertThatThrownBy(() -> run("a 10.0.0.5", "b 10.0.0.6")).hasMessage("a is sick");
  }

  private String run(String... devices) throws Exception {
    List<DeviceInfo> present = new ArrayList<>();
    for (String device : devices) {
      String[] words = device.split(" ", 2);
      PortInfo port =
          new PortInfo(
              1, PortState.ACTIVE, 4_096, List.of(), List.of(InetAddress.getByName(words[1])));
      present.add(
          new DeviceInfo(
              words[0], "test", TransportType.INFINIBAND, 1, null, Set.of(), List.of(port)));
    }
    DeviceSelector selector =
        new DeviceSelector(
            listed,
            OptionalInt.empty(),
            Optional.empty(),
            present.get(0).ports().get(0).addresses().get(0),
            false,
            true,
            0);
    return DeviceTrials.run(
        DeviceChoice.all(present, selector, own -> new NetworkAddress(own, 24)),
        choice -> {
          String name = choice.device().name();
          tried.add(name);
          if (sick.contains(name)) {
            throw new VerbsException("open", name + " is sick");
          }
          return name;
        },
        (failed, reason, next) -> {});
  }
}
