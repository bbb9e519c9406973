// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import java.util.Set;
import java.util.stream.Stream;
import org.sparkrdma.verbs.Opcode;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.device.TransportType;

/**
 * Drivers that deviate from the specification of their transport, and how. A driver is recognised
 * by the vendor id that its devices report, NVIDIA's by its name in the kernel, too: administrators
 * choose the names of devices.
 *
 * <p>What all devices of a transport have in common is in their capabilities and {@link
 * RegionAccess}. A deviation that the callers of the engines expect of any device has no row: the
 * code that expects it says so.
 */
public enum KernelDriver {
  /** Soft iWARP of the kernel; SIW_VENDOR_ID in drivers/infiniband/sw/siw/siw.h. */
  SIW(
      0x626d74,
      Quirk.COMPLETES_SENDS_BEFORE_READS,
      Quirk.REQUIRES_ELEMENT,
      Quirk.FAILS_SILENTLY,
      Quirk.IGNORES_TRAFFIC_CLASS),
  /** Soft RoCE of the kernel; RXE_VENDOR_ID in drivers/infiniband/sw/rxe/rxe_param.h. */
  RXE(0xffffff),
  /**
   * NVIDIA's cards, which mlx4 and mlx5 drive; the OUI of Mellanox. These two pass on what the
   * firmware reports (mlx5_query_vendor_id, mlx4_ib_query_device): by Open MPI's list of devices
   * (mca-btl-openib-device-params.ini) that may be HP's, Cisco's, Sun's, Voltaire's or Bull's.
   */
  NVIDIA(0x02c9),
  /** Intel's cards, which irdma (and i40iw before it) drives; PCI vendor id. */
  IRDMA(0x8086, Quirk.KEEPS_ACCESS),
  /** Alibaba's elastic RDMA; PCI vendor id. */
  ERDMA(0x1ded, Quirk.KEEPS_ACCESS),
  /** Broadcom's cards, which bnxt_re drives; PCI vendor id. */
  BNXT_RE(0x14e4, Quirk.KEEPS_ACCESS),
  /** Emulex's cards, which ocrdma drives; PCI vendor id. */
  OCRDMA(0x10df, Quirk.KEEPS_ACCESS),
  /** Microsoft's MANA; PCI vendor id. */
  MANA(0x1414, Quirk.KEEPS_ACCESS),
  /** A device without a vendor id, as of mana on older kernels: nothing is known of it. */
  NAMELESS(0, Quirk.KEEPS_ACCESS),
  /** All others. */
  OTHER(-1);

  /** A deviation. */
  public enum Quirk {
    /**
     * A SEND or WRITE completes when TCP has its data (siw_qp_sq_process in siw_qp_tx.c), so it may
     * overtake a READ that was posted earlier. One with a fence waits for all earlier READs
     * (siw_activate_tx_from_sq in siw_qp.c); the queue pairs of the engines set it when they write
     * a request.
     */
    COMPLETES_SENDS_BEFORE_READS,
    /**
     * A READ uses its first element even if it has none (siw_activate_tx_from_sq), and a receive
     * without elements is refused (push_recv_wqe in rdma-core's providers/siw/siw.c).
     */
    REQUIRES_ELEMENT,
    /**
     * A SEND or WRITE is complete before its data can be lost with the connection; if it was
     * unsignalled, nothing reports the loss (siw_qp_sq_process).
     */
    FAILS_SILENTLY,
    /** Its TCP sockets keep the traffic class of the system (siw_connect, siw_accept). */
    IGNORES_TRAFFIC_CLASS,
    /**
     * A connected queue pair keeps its remote access: a call that removes it returns 0 and has no
     * effect. irdma gives READ and WRITE at creation and modify only adds (irdma_modify_qp_roce in
     * irdma's verbs.c); erdma has no access among the attributes that it modifies
     * (erdma_mod_qp_params_rocev2); bnxt_re added READ and WRITE to whatever it was given until
     * Linux commit 52f70dea4201 of 2024 (bnxt_re_modify_qp); ocrdma does not look at access
     * (_ocrdma_modify_qp and ocrdma_set_qp_params); mana passes none to its firmware on older
     * kernels, and what the firmware does is not known (mana_ib_gd_modify_qp).
     */
    KEEPS_ACCESS
  }

  private final int vendorId;

  @SuppressWarnings("ImmutableEnumChecker") // Set.of is immutable.
  private final Set<Quirk> quirks;

  KernelDriver(int vendorId, Quirk... quirks) {
    this.vendorId = vendorId;
    this.quirks = Set.of(quirks);
  }

  /** The driver whose devices report this vendor id. */
  public static KernelDriver ofVendor(int vendorId) {
    return Stream.of(values()).filter(one -> one.vendorId == vendorId).findFirst().orElse(OTHER);
  }

  /**
   * The driver of a device.
   *
   * @param kernelName of its driver in sysfs, which neither the firmware nor an administrator
   *     chooses; empty where it cannot be seen
   */
  public static KernelDriver of(int vendorId, String kernelName) {
    KernelDriver driver = ofVendor(vendorId);
    boolean mlx = kernelName.equals("mlx5_core") || kernelName.equals("mlx4_core");
    return driver == OTHER && mlx ? NVIDIA : driver;
  }

  /**
   * The driver to expect where the vendor id cannot be queried: any iWARP device may be siw. The
   * others work with what siw needs, too, but more slowly.
   */
  public static KernelDriver ofUnknownVendor(TransportType transport) {
    return transport == TransportType.IWARP ? SIW : OTHER;
  }

  /**
   * Whether a READ on a connection without access was seen to be refused: on rxe by the contract
   * suite here, on others by a report of {@code ./card}, and on NVIDIA's by what its users rely on.
   */
  public boolean withholdsAccess() {
    return this == RXE || this == NVIDIA;
  }

  public boolean has(Quirk quirk) {
    return quirks.contains(quirk);
  }

  /** Elements of a request as the device requires: one of length 0 where it has none. */
  public int elementCount(WorkRequest request) {
    int count = request.elementCount();
    Opcode opcode = request.opcode();
    boolean intoMemory = opcode == Opcode.READ || opcode == Opcode.RECEIVE;
    return count == 0 && intoMemory && has(Quirk.REQUIRES_ELEMENT) ? 1 : count;
  }
}
