// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

import java.util.ArrayList;
import java.util.List;

/** Checks the kernel modules that programs with RDMA need, and the drivers of devices. */
final class ModulesCheck implements Check {
  /** Drivers in drivers/infiniband of the kernel that support RC queue pairs. */
  private static final List<String> DRIVERS =
      List.of(
          "bnxt_re",
          "cxgb4",
          "erdma",
          "hns_roce",
          "hns_roce_hw_v2",
          "iw_cxgb4",
          "irdma",
          "mana_ib",
          "mlx4_ib",
          "mlx5_ib",
          "ocrdma",
          "qedr",
          "rdma_rxe",
          "siw",
          "vmw_pvrdma");

  @Override
  public String name() {
    return "kernel modules";
  }

  @Override
  public List<Finding> run(Facts facts) {
    List<Finding> findings = new ArrayList<>();
    findings.add(need(facts, "ib_uverbs", "sys/class/infiniband_verbs"));
    findings.add(need(facts, "rdma_ucm", "sys/class/misc/rdma_cm"));
    List<String> loaded =
        DRIVERS.stream().filter(name -> facts.exists("sys/module/" + name)).toList();
    if (!loaded.isEmpty()) {
      findings.add(Finding.ok("Drivers: " + String.join(" ", loaded) + "."));
    } else if (facts.devices().isEmpty()) {
      findings.add(
          facts.against(
              "No driver of an RDMA device is loaded, and the kernel lists no device.",
              "install the card's driver (modprobe mlx5_ib, for example); without a card, soft RoCE"
                  + " serves for tests: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev"
                  + " INTERFACE"));
    }
    return findings;
  }

  /** A module that is built into the kernel shows itself by its class only. */
  private static Finding need(Facts facts, String module, String sign) {
    return facts.exists("sys/module/" + module) || facts.exists(sign)
        ? Finding.ok(module + " is in the kernel.")
        : facts.against(
            "The module " + module + " is not loaded.", "modprobe " + module + " (on the host)");
  }
}
