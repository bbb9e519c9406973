// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.VerbsContractSuite;

/** The contract suite over RoCE v2 (rxe), run in the guest by ContractMain. */
class DisniVerbsContractOnRoceV2 extends VerbsContractSuite {
  @Override
  protected EngineUnderTest engineUnderTest() {
    return DisniUnderTest.on("GUEST_ROCEV2_ADDRESS", Deviation.OF_ROCE);
  }
}
