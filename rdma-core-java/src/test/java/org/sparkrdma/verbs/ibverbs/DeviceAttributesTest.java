// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.device.DeviceInfo;
import org.sparkrdma.verbs.device.DeviceLimits;
import org.sparkrdma.verbs.device.PortInfo;
import org.sparkrdma.verbs.device.PortState;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;

/** Attributes of a device in C, each with a value of its own. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ExtendWith(ScriptedLibrary.Available.class)
class DeviceAttributesTest {

  private static ScriptedLibrary library;
  private static DeviceInfo device;

  @BeforeAll
  static void query() throws Exception {
    library = ScriptedLibrary.load();
    try (VerbsEngine engine = ScriptedEngine.over(library)) {
      device = engine.devices().get(0);
    }
  }

  @Test
  void shouldReportFirmwareAndVendor() {
    assertThat(device.reported())
        .containsOnly(
            Map.entry("fw_ver", "1.2.3"),
            Map.entry("vendor_id", "0x2c9"),
            Map.entry("vendor_part_id", 4_119L));
  }

  @Test
  void shouldTakeEachLimitFromItsMember() {
    DeviceLimits limits = device.limits();
    assertThat(limits.maxQueuePairs()).isEqualTo(64);
    assertThat(limits.maxQueuePairDepth()).isEqualTo(1_024);
    assertThat(limits.maxSge()).isEqualTo(4);
    assertThat(limits.maxCompletionQueueDepth()).isEqualTo(1_024);
    assertThat(limits.maxMemoryRegions()).isEqualTo(1_024);
    assertThat(limits.maxReadsInFlight()).isEqualTo(16);
    assertThat(limits.completionVectors()).isEqualTo(4);
    assertThat(device.nodeGuid()).isEqualTo(0x0102_0304_0506_0708L);
  }

  @Test
  void shouldReportStateAndLinkOfAPort() {
    PortInfo port = device.ports().get(0);
    assertThat(port.state()).isEqualTo(PortState.ACTIVE);
    assertThat(port.activeMtuBytes()).isEqualTo(1_024);
    assertThat(port.reported()).containsOnly(Map.entry("link_layer", "Ethernet"));
  }
}
