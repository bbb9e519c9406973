// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;
import org.sparkrdma.verbs.contract.VerbsContractSuite;

/** The contract suite over iWARP (siw), run in the guest by ContractMain. */
class DisniVerbsContractOnIwarp extends VerbsContractSuite {
  @Override
  protected EngineUnderTest engineUnderTest() {
    return DisniUnderTest.on("GUEST_IWARP_ADDRESS", Deviation.OF_IWARP);
  }
}
