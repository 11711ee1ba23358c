// Layout of the membrane kind's rest data: b1u b2u b1v b2v, (k_u k_v k_s) times area, damping.
#ifndef WEFT_MEMBRANE_H
#define WEFT_MEMBRANE_H

enum
{
    MEMBRANE_STRIDE = 8,
    TAUT_STRIDE = 9 // of kind taut: b1u b2u b1v b2v, lengths of the knees (u, v), what is stiffer beyond times area, damping
};

#endif
